package org.rowankv.tck;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;
import org.jsr107.tck.CachingTest;
import org.junit.Test;

/** A part of the TCK's jar, with the expected counts of a run: a test that disappears is as bad as one that fails. */
enum TckPart {
    /** {@code javax.cache} itself; excluded are 12 tests of store-by-reference and one that always fails. */
    CACHING("tck", 479, 13),

    /** The annotations, on beans of a dependency-injection container; see {@link InterceptedBeans}. */
    ANNOTATIONS("tck-annotations", 12, 0);

    private static final String ANNOTATIONS_PACKAGE = "org.jsr107.tck.annotation.";
    private static final String CLASS_SUFFIX = ".class";

    private final String label;
    private final int tests;
    private final int skipped;

    TckPart(String label, int tests, int skipped) {
        this.label = label;
        this.tests = tests;
        this.skipped = skipped;
    }

    String label() {
        return label;
    }

    /** Whether the counts equal those expected of a complete run. */
    boolean isMetBy(TckTally tally) {
        return tally.isClean() && tally.run() == tests && tally.skippedNames().size() == skipped;
    }

    /** The expected counts, in the form of {@link TckTally#counts}. */
    String expected() {
        return "run=" + tests + " failures=0 errors=0 skipped=" + skipped;
    }

    /** The part's test classes in the TCK's jar whose names contain this, sorted by name. */
    List<Class<?>> testClasses(String only) throws IOException {
        final List<Class<?>> classes = new ArrayList<>();
        for (String name : namesOfAllTests()) {
            if (name.startsWith(ANNOTATIONS_PACKAGE) == (this == ANNOTATIONS) && name.contains(only)) {
                final Class<?> type = load(name);
                if (!Modifier.isAbstract(type.getModifiers()) && hasTests(type)) {
                    classes.add(type);
                }
            }
        }
        return classes;
    }

    /** Names that Surefire accepts as test classes, as the TCK's own build does. */
    private static List<String> namesOfAllTests() throws IOException {
        try (ZipFile jar = new ZipFile(jarOf(CachingTest.class).toFile())) {
            return jar.stream()
                    .map(entry -> entry.getName().replace('/', '.'))
                    .filter(name -> name.endsWith("Test" + CLASS_SUFFIX))
                    .map(name -> name.substring(0, name.length() - CLASS_SUFFIX.length()))
                    .sorted()
                    .toList();
        }
    }

    /** False for the common superclass of the annotation tests: it is named like a test and has none. */
    private static boolean hasTests(Class<?> type) {
        for (Method method : type.getMethods()) {
            if (method.isAnnotationPresent(Test.class)) {
                return true;
            }
        }
        return false;
    }

    private static Class<?> load(String name) throws IOException {
        try {
            // Not initialized before it runs: static fields must read the settings of the run.
            return Class.forName(name, false, TckPart.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IOException("a class of the TCK's jar cannot be loaded: " + name, e);
        }
    }

    private static Path jarOf(Class<?> type) throws IOException {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IOException("the TCK's jar cannot be found", e);
        }
    }
}
