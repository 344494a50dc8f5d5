package org.rowankv.check.verify;

/**
 * What a run does.
 *
 * @param seconds how long the callers ask
 * @param callers how many threads ask
 * @param keys on how many keys
 * @param seed of every random decision of the run; the interleaving of threads is not in it
 * @param operationsPerWindow how many operations each caller makes between two judgements
 * @param faultsPerMille how many of 1000 attempts meet a fault on their way
 * @param deadlineMs how long a caller's operation is retried
 * @param stallOneIn of how many threads that come by a half-done append one is stalled; 0: none
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
