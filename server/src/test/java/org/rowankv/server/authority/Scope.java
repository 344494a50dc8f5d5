package org.rowankv.server.authority;

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
        boolean writes,
        boolean reads,
        boolean leasesInFlight,
        boolean votesInFlight,
        boolean exact) {
    /** L in ticks: the shortest for which a lease, a confirmation and the waits have an inside. */
    static final int LEASE = 2;

    static Scope of(int members, int terms) {
        return new Scope(members, members, 0, terms, 0, 0, 0, false, members - 1, false, false, false, false, false);
    }

    LeaseTimes times() {
        return new LeaseTimes(LEASE, margin);
    }

    Scope withPrimary(int slot) {
        return new Scope(
                servers,
                members,
                slot,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope withCrashes(int count) {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                count,
                skew,
                margin,
                joins,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    /** Two intervals that two clocks measure differ by up to twice the skew, which is what the margin is for. */
    Scope withSkew(int ticks) {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                ticks,
                2 * ticks,
                joins,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope withJoiners(int count) {
        return new Scope(
                members + count,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                true,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope excludingAtOnce(int count) {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                count,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope withWrites() {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                true,
                reads,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope withReads() {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                true,
                true,
                leasesInFlight,
                votesInFlight,
                exact);
    }

    Scope withLeasesInFlight() {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                writes,
                reads,
                true,
                votesInFlight,
                exact);
    }

    Scope withVotesInFlight() {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                true,
                exact);
    }

    Scope exactly() {
        return new Scope(
                servers,
                members,
                primary,
                terms,
                crashes,
                skew,
                margin,
                joins,
                excludedAtOnce,
                writes,
                reads,
                leasesInFlight,
                votesInFlight,
                true);
    }

    @Override
    public String toString() {
        return members + " members" + (servers > members ? ", " + (servers - members) + " joining" : "")
                + (joins ? ", returns" : "") + ", primary " + primary + ", " + terms + " terms"
                + (crashes > 0 ? ", " + crashes + " crash" : "") + (skew > 0 ? ", skew " + skew : "")
                + (excludedAtOnce < members - 1 ? ", excluding " + excludedAtOnce + " at once" : "")
                + (writes ? ", a write" : "") + (reads ? ", slow reads" : "")
                + (leasesInFlight ? ", leases in flight" : "") + (votesInFlight ? ", votes in flight" : "")
                + (exact ? ", exactly" : "");
    }
}
