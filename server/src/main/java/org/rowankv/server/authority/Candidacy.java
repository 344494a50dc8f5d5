package org.rowankv.server.authority;

import org.jspecify.annotations.Nullable;

/**
 * An attempt to become the manager: a linearizable read of the store, then a compare-and-set on condition of both
 * versions read. The longer the manager before was silent between them, the less is left to wait. Immutable.
 *
 * @param stored the configuration that was read
 * @param versions of that read
 * @param readAt the candidate's clocks at its receipt
 * @param proposed what it stores, once it stands
 * @param sentAt the candidate's clocks before it sent that
 */
public record Candidacy(
        Electorate stored,
        StoreVersions versions,
        ClockReading readAt,
        @Nullable Electorate proposed,
        @Nullable ClockReading sentAt) {

    public static Candidacy read(Electorate stored, StoreVersions versions, ClockReading now) {
        return new Candidacy(stored, versions, now, null, null);
    }

    public boolean isStanding() {
        return proposed != null;
    }

    /** After another read before it stands: if neither version changed, silence counts from the first one. */
    public Candidacy readAgain(Electorate nowStored, StoreVersions nowVersions, ClockReading now) {
        return nowVersions.equals(versions) ? this : read(nowStored, nowVersions, now);
    }

    Candidacy standing(Electorate next, ClockReading now) {
        return new Candidacy(stored, versions, readAt, next, now);
    }
}
