package org.rowankv.bench.paper.model;

/** What happens at a time of the simulation. */
@FunctionalInterface
public interface ModelEvent {
    void happen(long nowNs);
}
