package org.rowankv.check.verify;

/**
 * Settings of a run of {@code verify}.
 *
 * @param seconds how long the callers run
 * @param callers number of calling threads
 * @param keys number of keys
 * @param seed of every random decision of the run; thread scheduling is not reproduced
 * @param operationsPerWindow operations of each caller between two checks
 * @param faultsPerMille attempts in 1000 that meet a fault in transit
 * @param deadlineMs how long a caller's operation is retried
 * @param stallOneIn one in this many threads in the middle of an append is stalled; 0: none
 */
public record VerifySettings(
        int seconds,
        int callers,
        int keys,
        long seed,
        int operationsPerWindow,
        int faultsPerMille,
        int deadlineMs,
        int stallOneIn) {
    public VerifySettings {
        if (seconds < 1 || callers < 1 || keys < 1) {
            throw new IllegalArgumentException("seconds, threads and keys are at least 1");
        }
    }

    public static VerifySettings of(int seconds, int callers, int keys, long seed) {
        return new VerifySettings(seconds, callers, keys, seed, 1500, 30, 40, 400);
    }
}
