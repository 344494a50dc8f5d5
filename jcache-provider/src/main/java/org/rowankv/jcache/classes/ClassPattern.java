package org.rowankv.jcache.classes;

import java.util.List;

/** Set of classes by name: {@code a.b.Name}, {@code a.b.*}, {@code a.b.**} with its subpackages, or {@code **}. Immutable. */
record ClassPattern(String text) {
    static final String EVERY_CLASS = "**";

    static List<ClassPattern> of(String... texts) {
        return List.of(texts).stream().map(ClassPattern::new).toList();
    }

    boolean matches(String name) {
        if (text.endsWith(".**")) {
            return name.startsWith(text.substring(0, text.length() - 2));
        }
        if (text.endsWith(".*")) {
            final int length = text.length() - 1;
            return name.startsWith(text.substring(0, length)) && name.indexOf('.', length) < 0;
        }
        return text.equals(name) || text.equals(EVERY_CLASS);
    }

    static boolean anyMatches(List<ClassPattern> patterns, String name) {
        for (ClassPattern pattern : patterns) {
            if (pattern.matches(name)) {
                return true;
            }
        }
        return false;
    }
}
