package org.rowankv.sim.plant;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.rowankv.sim.plant.Catcher.ByTest;

/**
 * The source tree that this program was built from, with the commands that run its programs and tests.
 *
 * @param root the directory of the parent pom
 * @param target of a module, below its directory: output directory of classes compiled like this program
 */
public record SourceTree(Path root, String target) {
    private static final String CLASS_PATH = "java.class.path";
    /** Modules whose tests run with chaos points on, as in the build. */
    private static final List<String> OPEN_POINTS = List.of("runtime", "rdma", "driver");

    /** The tree above the location of this program, or above the working directory. */
    public static SourceTree here() {
        final Path loaded = loadedFrom();
        final String target = loaded.endsWith("target/quick/classes") ? "target/quick" : "target";
        for (Path start : List.of(loaded, Path.of("").toAbsolutePath())) {
            for (Path place = start; place != null; place = place.getParent()) {
                if (Files.isDirectory(place.resolve("server/src/main/java"))) {
                    return new SourceTree(place, target);
                }
            }
        }
        throw new IllegalStateException("planting bugs needs the sources: start this inside the source tree");
    }

    private static Path loadedFrom() {
        return Path.of(SourceTree.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
    }

    String read(String path) {
        try {
            return Files.readString(root.resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(path + " cannot be read", e);
        }
    }

    /** The source of the class, with the bug. */
    String sourceWith(PlantedBug bug) {
        return bug.plantIn(read(bug.path()));
    }

    /** The source file of a catching test. */
    String sourceOf(ByTest test) {
        return test.module() + "/src/test/java/" + test.type().replace('.', '/') + ".java";
    }

    /** Class path of the programs of all modules, as in this JVM. */
    static String classPath() {
        return System.getProperty(CLASS_PATH);
    }

    /**
     * Class path of a module's tests: its own tests, all programs, test classes that other modules' tests depend on,
     * the libraries.
     */
    String classPathOfTest(String module) {
        final List<String> modules = modules();
        final Stream<String> tests = Stream.concat(
                        Stream.of(module), modules.stream().filter(other -> !other.equals(module)))
                .map(name -> name + "/" + target + "/test-classes");
        final Stream<String> programs = modules.stream().map(name -> name + "/" + target + "/classes");
        final Stream<Path> ours =
                Stream.concat(tests, programs).map(root::resolve).filter(Files::isDirectory);
        final Stream<Path> libraries = Arrays.stream(classPath().split(File.pathSeparator))
                .map(Path::of)
                .filter(entry -> !isOurs(entry));
        return String.join(
                File.pathSeparator,
                Stream.concat(ours, libraries).map(Path::toString).toList());
    }

    private boolean isOurs(Path entry) {
        return modules().stream()
                .anyMatch(module -> entry.toAbsolutePath()
                        .normalize()
                        .startsWith(root.resolve(module).resolve("target")));
    }

    private List<String> modules() {
        final List<String> modules = new ArrayList<>();
        final Matcher named = Pattern.compile("<module>([^<]+)</module>").matcher(read("pom.xml"));
        while (named.find()) {
            modules.add(named.group(1));
        }
        return modules;
    }

    /** The beginning of a command, with the options of all test JVMs. */
    List<String> java() {
        final String options =
                pomProperty("rowan.test.jvmArgs").replace("${rowan.test.heap}", pomProperty("rowan.test.heap"));
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(words(options));
        return command;
    }

    /** Options that speed up short-lived JVMs. */
    List<String> shortLived() {
        return words(pomProperty("rowan.test.compiler"));
    }

    /** The same for this test, as the build runs it. */
    List<String> javaOfTest(ByTest test) {
        final String source = read(sourceOf(test));
        final boolean races = source.contains("@Tag(\"races\")");
        final boolean points = OPEN_POINTS.contains(test.module()) || source.contains("@Tag(\"chaos\")");
        final List<String> command = java();
        if (!races) {
            command.addAll(shortLived());
        }
        command.add("-Drowan.process.options=" + String.join(" ", shortLived()));
        command.add("-Drowan.chaos=" + (points && !races));
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        command.add("-Drowan.log.level=warn");
        return command;
    }

    private String pomProperty(String name) {
        final Matcher found =
                Pattern.compile("<" + Pattern.quote(name) + ">([^<]*)</").matcher(read("pom.xml"));
        if (!found.find()) {
            throw new IllegalStateException("pom.xml has no property " + name);
        }
        return found.group(1);
    }

    private static List<String> words(String options) {
        return options.isBlank() ? List.of() : List.of(options.strip().split("\\s+"));
    }
}
