package org.rowankv.server.authority;

/** A manager's grants, step by step: it may pause between its confirmation and its answers. */
final class GrantSteps {
    private final Scope scope;
    private final Steps.Sink sink;

    GrantSteps(Scope scope, Steps.Sink sink) {
        this.scope = scope;
        this.sink = sink;
    }

    void from(World world, int slot) {
        final ModelServer server = world.servers[slot];
        final ClockReading now = world.now(slot);
        for (int other = 0; other < scope.servers(); other++) {
            final int holder = other;
            if (world.servers[other].requested != null && other != slot) {
                final World next = world.copy();
                final LeaseRequest request = next.change(other).requested;
                next.servers[other].requested = null;
                final ModelServer manager = next.change(slot);
                manager.authority = manager.authority.with(manager.manager().receive(request, now));
                sink.step(next, () -> "the request of server " + holder + " arrives at manager " + slot, null);
            }
        }
        if (server.manager().isConfirmed(now, scope.times())) {
            final World next = world.copy();
            next.change(slot).confirmedAt = now;
            sink.step(next, () -> "manager " + slot + " finds itself confirmed", null);
        }
        if (server.confirmedAt != null) {
            final World next = world.copy();
            final ModelServer manager = next.change(slot);
            final Grants.Checked checked = manager.manager().grant(manager.confirmedAt);
            manager.authority = manager.authority.with(manager.manager().with(checked.next()));
            manager.confirmedAt = null;
            for (LeaseGrant grant : checked.grants()) {
                next.change(grant.request().slot()).granted = grant;
            }
            sink.step(next, () -> "manager " + slot + " answers requests", null);
        }
    }
}
