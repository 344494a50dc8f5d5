package org.rowankv.server.authority;

import java.util.function.Consumer;

/**
 * The bounds of one search. Within them every step is optional at every moment: any server may stand still for any
 * time, any message may be late or lost, any member may be suspected.
 *
 * @param servers slots, 2..4
 * @param members the first slots, members of term 1 with complete replicas; the others may join
 * @param primary of term 1, whose manager is slot 0
 * @param terms how many are stored at most
 * @param crashes of processes
 * @param skew ticks by which two clocks may differ; with 1, a clock advances by 0, 1 or 2 at each tick
 * @param margin ticks: ε
 * @param joins whether servers are added
 * @param excludedAtOnce members that one configuration excludes at most
 * @param handsOver whether a living primary is made a backup
 * @param writes whether one value is written; otherwise only leases are judged
 * @param reads whether a read may be interrupted between lease check and end
 * @param leasesInFlight whether requests and grants travel
 * @param votesInFlight whether questions and confirmations travel
 * @param exact whether states that differ only in what the right code never uses again are kept apart; a mistake may use
 *     it
 */
record Scope(
        int servers,
        int members,
        int primary,
        int terms,
        int crashes,
        int skew,
        int margin,
        boolean joins,
        int excludedAtOnce,
        boolean handsOver,
        boolean writes,
        boolean reads,
        boolean leasesInFlight,
        boolean votesInFlight,
        boolean exact) {
    /** L in ticks: the shortest for which a lease, a confirmation and the waits have an inside. */
    static final int LEASE = 2;

    static Scope of(int members, int terms) {
        return new Scope(
                members, members, 0, terms, 0, 0, 0, false, members - 1, false, false, false, false, false, false);
    }

    LeaseTimes times() {
        return new LeaseTimes(LEASE, margin);
    }

    /** The components, to be changed. */
    private static final class Changing {
        private int servers;
        private int members;
        private int primary;
        private int terms;
        private int crashes;
        private int skew;
        private int margin;
        private boolean joins;
        private int excludedAtOnce;
        private boolean handsOver;
        private boolean writes;
        private boolean reads;
        private boolean leasesInFlight;
        private boolean votesInFlight;
        private boolean exact;
    }

    private Scope with(Consumer<Changing> change) {
        final Changing changing = new Changing();
        changing.servers = servers;
        changing.members = members;
        changing.primary = primary;
        changing.terms = terms;
        changing.crashes = crashes;
        changing.skew = skew;
        changing.margin = margin;
        changing.joins = joins;
        changing.excludedAtOnce = excludedAtOnce;
        changing.handsOver = handsOver;
        changing.writes = writes;
        changing.reads = reads;
        changing.leasesInFlight = leasesInFlight;
        changing.votesInFlight = votesInFlight;
        changing.exact = exact;
        change.accept(changing);
        return new Scope(
                changing.servers,
                changing.members,
                changing.primary,
                changing.terms,
                changing.crashes,
                changing.skew,
                changing.margin,
                changing.joins,
                changing.excludedAtOnce,
                changing.handsOver,
                changing.writes,
                changing.reads,
                changing.leasesInFlight,
                changing.votesInFlight,
                changing.exact);
    }

    Scope withPrimary(int slot) {
        return with(changing -> changing.primary = slot);
    }

    Scope withCrashes(int count) {
        return with(changing -> changing.crashes = count);
    }

    /** Two intervals that two clocks measure differ by up to twice the skew, which is what the margin is for. */
    Scope withSkew(int ticks) {
        return with(changing -> {
            changing.skew = ticks;
            changing.margin = 2 * ticks;
        });
    }

    Scope withJoiners(int count) {
        return with(changing -> {
            changing.servers = members + count;
            changing.joins = true;
        });
    }

    Scope excludingAtOnce(int count) {
        return with(changing -> changing.excludedAtOnce = count);
    }

    Scope handingOver() {
        return with(changing -> changing.handsOver = true);
    }

    Scope withWrites() {
        return with(changing -> changing.writes = true);
    }

    Scope withReads() {
        return with(changing -> {
            changing.writes = true;
            changing.reads = true;
        });
    }

    Scope withLeasesInFlight() {
        return with(changing -> changing.leasesInFlight = true);
    }

    Scope withVotesInFlight() {
        return with(changing -> changing.votesInFlight = true);
    }

    Scope exactly() {
        return with(changing -> changing.exact = true);
    }

    @Override
    public String toString() {
        return members + " members" + (servers > members ? ", " + (servers - members) + " joining" : "")
                + (joins ? ", returns" : "") + ", primary " + primary + ", " + terms + " terms"
                + (crashes > 0 ? ", " + crashes + " crash" : "") + (skew > 0 ? ", skew " + skew : "")
                + (excludedAtOnce < members - 1 ? ", excluding " + excludedAtOnce + " at once" : "")
                + (handsOver ? ", hand-overs" : "") + (writes ? ", a write" : "") + (reads ? ", slow reads" : "")
                + (leasesInFlight ? ", leases in flight" : "") + (votesInFlight ? ", votes in flight" : "")
                + (exact ? ", exactly" : "");
    }
}
