package org.rowankv.server.authority;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.rowankv.topology.Configuration;

/**
 * The members of a stored configuration, which are its voters, and its manager. Each stored term has one, by
 * compare-and-set. Beside each member the store has N − 1 of 2N − 1 votes. Hence the quorums are the store with the
 * manager, and all members: any two share a voter. Immutable.
 *
 * @param term of the configuration, ≥ 1
 * @param manager the slot of the configuration's manager, a member
 * @param incarnations by slot: of a member, the process that may have roles; of a former member, the last process that
 *     had any, which never is a member again; 0 if the slot had none
 * @param members their slots, ascending
 */
public record Electorate(long term, int manager, List<Long> incarnations, List<Integer> members) {
    public Electorate {
        incarnations = List.copyOf(incarnations);
        members = members.stream().sorted().distinct().toList();
        if (term < 1) {
            throw new IllegalArgumentException("terms begin at 1, not " + term);
        }
        for (int member : members) {
            if (member < 0 || member >= incarnations.size() || incarnations.get(member) < 1) {
                throw new IllegalArgumentException("slot " + member + " is a member without an incarnation");
            }
        }
        if (!members.contains(manager)) {
            throw new IllegalArgumentException("the manager's slot " + manager + " is none of the members " + members);
        }
    }

    /**
     * That of a configuration.
     *
     * @throws IllegalArgumentException if it has no manager
     */
    public static Electorate of(Configuration configuration) {
        return new Electorate(
                configuration.term(), configuration.manager(), configuration.incarnations(), configuration.members());
    }

    public boolean isMember(int slot) {
        return members.contains(slot);
    }

    /** The last incarnation that had roles in that slot; 0 if there was none. */
    public long incarnation(int slot) {
        return slot < incarnations.size() ? incarnations.get(slot) : 0;
    }

    /** Whether that process is a member. */
    public boolean names(int slot, long incarnation) {
        return isMember(slot) && incarnation(slot) == incarnation;
    }

    public boolean isManagedBy(int slot, long incarnation) {
        return slot == manager && names(slot, incarnation);
    }

    /** The next term, without some members. A slot keeps the incarnation that is excluded. */
    public Electorate excluding(Collection<Integer> excluded) {
        final List<Integer> left = new ArrayList<>(members);
        left.removeAll(excluded);
        return new Electorate(term + 1, manager, incarnations, left);
    }

    /** The next term, under another manager or a restarted one, without some members. */
    public Electorate succeeded(int newManager, long newIncarnation, Collection<Integer> excluded) {
        if (!isMember(newManager)) {
            throw new IllegalArgumentException("slot " + newManager + " is none of the members " + members);
        }
        final List<Integer> left = new ArrayList<>(members);
        left.removeAll(excluded);
        return new Electorate(term + 1, newManager, with(newManager, newIncarnation), left);
    }

    /**
     * Whether that process may become a member. The process that was excluded may still have its roles, not knowing of
     * its exclusion; so only a later one of the same server may.
     */
    public boolean mayAdd(int slot, long incarnation) {
        return incarnation > incarnation(slot);
    }

    /** The next term, with one more member, or a member's later process. */
    public Electorate adding(int slot, long incarnation) {
        if (!mayAdd(slot, incarnation)) {
            throw new IllegalArgumentException("slot " + slot + " had incarnation " + incarnation(slot)
                    + " before: only a later one is added, not " + incarnation);
        }
        final List<Integer> more = new ArrayList<>(members);
        more.add(slot);
        return new Electorate(term + 1, manager, with(slot, incarnation), more);
    }

    private List<Long> with(int slot, long incarnation) {
        final List<Long> next = new ArrayList<>(incarnations);
        while (next.size() <= slot) {
            next.add(0L);
        }
        next.set(slot, incarnation);
        return next;
    }
}
