package org.rowankv.check.history;

/**
 * A reply in a key's history that a linearizable store cannot give.
 *
 * @param key the key's number
 * @param reason in one line
 * @param window the operations that show it, one per line, or empty
 */
public record Anomaly(int key, String reason, String window) {
    @Override
    public String toString() {
        return "key " + key + ": " + reason + (window.isEmpty() ? "" : System.lineSeparator() + window);
    }
}
