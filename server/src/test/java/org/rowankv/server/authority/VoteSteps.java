package org.rowankv.server.authority;

/** Votes for a manager: of the store, and of other members. */
final class VoteSteps {
    private final Scope scope;
    private final Steps.Sink sink;

    VoteSteps(Scope scope, Steps.Sink sink) {
        this.scope = scope;
        this.sink = sink;
    }

    void from(World world, int slot) {
        if (scope.votesInFlight()) {
            travelling(world, slot);
            return;
        }
        voteOfStore(world, slot, world.now(slot));
        for (int other = 0; other < scope.servers(); other++) {
            if (other != slot && world.servers[slot].manager().stored().isMember(other)) {
                final ConfirmationRequest request =
                        world.servers[slot].manager().ask(other, world.now(slot));
                final int voter = other;
                if (world.servers[other].up && world.servers[other].voter().confirms(request)) {
                    final World next = world.copy();
                    Steps.confirm(next.change(other), request, world.now(other));
                    hear(next, slot, request);
                    sink.step(next, () -> "server " + voter + " confirms manager " + slot, null);
                }
            }
        }
    }

    private void voteOfStore(World world, int slot, ClockReading sentAt) {
        final World next = world.copy();
        final ModelServer server = next.change(slot);
        final ManagerTerm manager = server.manager();
        final boolean accepted = world.term() == manager.stored().term();
        next.votes += accepted ? 1 : 0;
        server.authority = server.authority.with(
                manager.storeAnswered(manager.stored().term(), accepted, sentAt, world.now(slot)));
        sink.step(next, () -> "the store " + (accepted ? "confirms" : "refuses") + " manager " + slot, null);
    }

    private static void hear(World next, int slot, ConfirmationRequest request) {
        final ModelServer server = next.change(slot);
        server.authority = server.authority.with(server.manager().confirmedBy(request, next.now(slot)));
    }

    private void travelling(World world, int slot) {
        final ModelServer server = world.servers[slot];
        final ClockReading now = world.now(slot);
        final World sent = world.copy();
        sent.change(slot).voteSent = now;
        sink.step(sent, () -> "manager " + slot + " asks the store", null);
        if (server.voteSent != null) {
            final World next = world.copy();
            final ModelServer manager = next.change(slot);
            manager.voteSent = null;
            final boolean accepted = world.term() == manager.manager().stored().term();
            next.votes += accepted ? 1 : 0;
            if (accepted) {
                manager.voteGiven = server.voteSent;
            } else {
                manager.authority = manager.authority.with(manager.manager()
                        .storeAnswered(manager.manager().stored().term(), false, server.voteSent, now));
            }
            sink.step(next, () -> "the store " + (accepted ? "confirms" : "refuses") + " manager " + slot, null);
        }
        if (server.voteGiven != null) {
            final World next = world.copy();
            final ModelServer manager = next.change(slot);
            manager.authority = manager.authority.with(
                    manager.manager().storeAnswered(manager.manager().stored().term(), true, server.voteGiven, now));
            manager.voteGiven = null;
            sink.step(next, () -> "manager " + slot + " hears that the store confirmed it", null);
        }
        for (int other = 0; other < scope.servers(); other++) {
            if (other != slot) {
                travelling(world, slot, other);
            }
        }
    }

    private void travelling(World world, int slot, int other) {
        final ModelServer server = world.servers[slot];
        if (server.manager().stored().isMember(other)) {
            final World next = world.copy();
            next.change(slot).asked[other] = server.manager().ask(other, world.now(slot));
            sink.step(next, () -> "manager " + slot + " asks server " + other, null);
        }
        final ConfirmationRequest asked = server.asked[other];
        if (asked != null
                && world.servers[other].up
                && world.servers[other].voter().confirms(asked)) {
            final World next = world.copy();
            Steps.confirm(next.change(other), asked, world.now(other));
            final ModelServer manager = next.change(slot);
            manager.asked[other] = null;
            manager.confirmed[other] = asked;
            sink.step(next, () -> "server " + other + " confirms manager " + slot, null);
        }
        if (server.confirmed[other] != null) {
            final World next = world.copy();
            hear(next, slot, server.confirmed[other]);
            next.servers[slot].confirmed[other] = null;
            sink.step(next, () -> "manager " + slot + " hears that server " + other + " confirmed it", null);
        }
    }
}
