package org.rowankv.server.configstore;

/** Syntax of a path in the configuration store, supported by every store. */
public final class NodePath {
    public static final int MAX_NAME_LENGTH = 200;

    private NodePath() {}

    /** Returns the path, or throws IllegalArgumentException with the reason. */
    public static String require(String path) {
        if (path.isEmpty() || path.charAt(0) != '/') {
            throw new IllegalArgumentException("a path begins with /: '" + path + "'");
        }
        int start = 1;
        while (start <= path.length()) {
            final int slash = path.indexOf('/', start);
            final int end = slash < 0 ? path.length() : slash;
            requireName(path, start, end);
            start = end + 1;
        }
        return path;
    }

    private static void requireName(String path, int start, int end) {
        if (end == start || end - start > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException(
                    "a name in a path has 1 to " + MAX_NAME_LENGTH + " characters: '" + path + "'");
        }
        for (int i = start; i < end; i++) {
            final char c = path.charAt(i);
            final boolean letter = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '%';
            if (!letter && !(i > start && (c == '.' || c == '-'))) {
                throw new IllegalArgumentException("character " + (int) c + " in the path '" + path + "'");
            }
        }
    }

    /** Whether a path lies directly below a prefix. */
    static boolean isChild(String path, String prefix) {
        final String parent = prefix.equals("/") ? "" : prefix;
        return path.startsWith(parent)
                && path.length() > parent.length() + 1
                && path.charAt(parent.length()) == '/'
                && path.indexOf('/', parent.length() + 1) < 0;
    }
}
