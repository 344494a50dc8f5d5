package org.rowankv.check.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * One round of the crash check: a child on a store directory, with its own files beside it.
 *
 * @param number of the round, from 1
 * @param seed of the child's load
 * @param directory of the run
 * @param store number of the store that the round uses
 * @param loadMs how long the child loads before it closes by itself; 0: it only checks
 */
record CrashRound(int number, long seed, Path directory, int store, int loadMs) {
    private static final int RECORDS_PER_THREAD = 300_000;

    Path storeDirectory() {
        return directory.resolve("store-" + store);
    }

    Path areaFile(int server) {
        return storeDirectory().resolve("area-" + server + ".rowan");
    }

    Path journalFile() {
        return directory.resolve("round-" + number + ".journal");
    }

    Path observedFile() {
        return directory.resolve("round-" + number + ".observed");
    }

    Path outputFile() {
        return directory.resolve("round-" + number + ".output");
    }

    static Journal openJournal(Path file) throws IOException {
        return Journal.open(file, CrashKeys.THREADS, RECORDS_PER_THREAD);
    }

    List<String> childArguments(CrashSettings settings) {
        return List.of(
                String.valueOf(settings.replicas()),
                directory.toString(),
                String.valueOf(number),
                String.valueOf(seed),
                String.valueOf(store),
                String.valueOf(loadMs),
                String.valueOf(settings.power()));
    }

    static CrashRound ofChild(String[] arguments) {
        return new CrashRound(
                Integer.parseInt(arguments[2]),
                Long.parseLong(arguments[3]),
                Path.of(arguments[1]),
                Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]));
    }
}
