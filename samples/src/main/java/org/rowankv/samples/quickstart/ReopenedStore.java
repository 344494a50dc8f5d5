package org.rowankv.samples.quickstart;

import java.io.PrintStream;
import java.net.URI;
import javax.cache.Cache;
import org.rowankv.samples.run.ProgressLine;

/** The second process: opens the store that the first one closed, and checks every object again. */
final class ReopenedStore {
    private ReopenedStore() {}

    /**
     * @param checked keys that were checked
     * @param mismatches keys with an unexpected value, and objects that were never put
     */
    record Result(long checked, long mismatches) {
        private static final String PREFIX = "reopened: ";

        /** The result line for the first process. */
        String line() {
            return PREFIX + checked + " " + mismatches;
        }

        static Result ofLine(String line) {
            final String[] numbers = line.substring(PREFIX.length()).split(" ");
            return new Result(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
        }

        static boolean isLine(String line) {
            return line.startsWith(PREFIX);
        }
    }

    static Result check(URI uri, ObjectDigests manifest, PrintStream out, boolean terminal) {
        long mismatches = 0;
        try (ClassCache store = new ClassCache(uri)) {
            final Cache<String, byte[]> cache = store.open();
            final ProgressLine progress = new ProgressLine(out, terminal, "check", manifest.size());
            for (String key : manifest.keys()) {
                final byte[] value = cache.get(key);
                if (!manifest.agrees(key, value)) {
                    mismatches++;
                    out.println("  " + key + (value == null ? " is gone" : " has an unexpected value"));
                }
                progress.advance();
            }
            long listed = 0;
            for (Cache.Entry<String, byte[]> entry : cache) {
                listed++;
                if (manifest.isRemoved(entry.getKey()) || !manifest.agrees(entry.getKey(), entry.getValue())) {
                    mismatches++;
                    out.println("  " + entry.getKey() + " is listed but was removed or never put");
                }
            }
            if (listed != manifest.objectsLeft()) {
                mismatches++;
                out.println("  " + listed + " objects are listed, " + manifest.objectsLeft() + " should be");
            }
        }
        return new Result(manifest.size(), mismatches);
    }
}
