package org.rowankv.server.shard;

/**
 * The {@link Roles} in force at one server. A change is one volatile write of another snapshot. A reader takes one
 * snapshot per duty cycle or operation, so that all it sees of primaries, backups and epochs is of one configuration.
 *
 * <p>Any thread reads; one thread replaces.
 */
public final class CurrentRoles {
    private volatile Roles roles;

    public CurrentRoles(Roles first) {
        this.roles = first;
    }

    public Roles get() {
        return roles;
    }

    /**
     * Puts the roles of a later configuration in force, or those of the present one with more open shards.
     *
     * @throws IllegalArgumentException if the term is lower, or the numbers of shards or servers differ: agents
     *     size their state by these once
     */
    public void replace(Roles next) {
        final Roles present = roles;
        if (next.term() < present.term()) {
            throw new IllegalArgumentException("roles of term " + next.term() + " after term " + present.term());
        }
        if (next.shardCount() != present.shardCount() || next.serverCount() != present.serverCount()) {
            throw new IllegalArgumentException("roles of " + next.shardCount() + " shards and " + next.serverCount()
                    + " servers after " + present.shardCount() + " and " + present.serverCount());
        }
        roles = next;
    }
}
