package org.rowankv.sim;

import java.util.List;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.SimValues;

/**
 * What every form draws from a seed: the servers, their clients, and the faults. Each seed leaves some disturbances out
 * and exaggerates others: much of one kind finds what a little of everything hides.
 *
 * @param segments of each server
 * @param clients each with at most one operation in progress
 * @param operations that the clients begin
 * @param smallValue exclusive upper bound of most values' lengths
 * @param largeValue length of the other values
 * @param lossPerMille attempts with a lost, duplicated or late message
 * @param yieldPerMyriad points at which other tasks run for a moment
 * @param stallPerMyriad points at which other tasks run for a long time
 * @param deathPerMyriad points at which a caller's thread dies
 * @param stepNs approximate length of a step
 * @param power whether an acknowledged write survives a power cut
 */
public record SimPlan(
        long seed,
        int servers,
        int replicas,
        int shards,
        int workers,
        int segments,
        int maxMessage,
        int clients,
        int keys,
        int operations,
        int smallValue,
        int largeValue,
        int lossPerMille,
        int yieldPerMyriad,
        int stallPerMyriad,
        int deathPerMyriad,
        long stepNs,
        boolean power,
        List<PlannedFault> faults) {

    /** An amount that is often none, and sometimes several times the usual one. */
    public static int swarm(RandomSource random, int usual) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> usual / 3 + 1;
            case 2 -> usual;
            default -> 4 * usual;
        };
    }

    /** The values that its clients write. */
    public SimValues values() {
        return new SimValues(smallValue, largeValue);
    }

    /** Whether it contains a fault of that kind. */
    public boolean has(PlannedFault.Kind kind) {
        return faults.stream().anyMatch(fault -> fault.kind() == kind);
    }

    /** The traits of these properties and its faults, for the choice of seeds. */
    public List<String> traits(List<String> properties) {
        return RareFirst.traits(
                properties, faults.stream().map(fault -> fault.kind().name()).toList());
    }

    public SimPlan withFaults(List<PlannedFault> fewer) {
        return with(clients, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, fewer);
    }

    public SimPlan withClients(int fewer) {
        return with(fewer, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, faults);
    }

    public SimPlan withOperations(int fewer) {
        return with(clients, fewer, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, faults);
    }

    public SimPlan withoutLoss() {
        return with(clients, operations, 0, yieldPerMyriad, stallPerMyriad, deathPerMyriad, faults);
    }

    public SimPlan withoutYields() {
        return with(clients, operations, lossPerMille, 0, stallPerMyriad, deathPerMyriad, faults);
    }

    public SimPlan withoutStalls() {
        return with(clients, operations, lossPerMille, yieldPerMyriad, 0, deathPerMyriad, faults);
    }

    public SimPlan withoutDeaths() {
        return with(clients, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, 0, faults);
    }

    private SimPlan with(
            int newClients,
            int newOperations,
            int loss,
            int yields,
            int stalls,
            int deaths,
            List<PlannedFault> newFaults) {
        return new SimPlan(
                seed,
                servers,
                replicas,
                shards,
                workers,
                segments,
                maxMessage,
                newClients,
                keys,
                newOperations,
                smallValue,
                largeValue,
                loss,
                yields,
                stalls,
                deaths,
                stepNs,
                power,
                List.copyOf(newFaults));
    }
}
