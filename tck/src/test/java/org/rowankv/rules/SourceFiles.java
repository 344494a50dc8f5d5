package org.rowankv.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The main sources of all modules, located from the working directory of the module that checks them. */
final class SourceFiles {
    private SourceFiles() {}

    /** The directory of the parent pom. */
    static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve("jcache-provider"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException(
                        "not inside the source tree: " + Path.of("").toAbsolutePath());
            }
        }
        return directory;
    }

    /** Those of the root, and those below codecs and samples. */
    static List<Path> modules() {
        return Stream.of(root(), root().resolve("codecs"), root().resolve("samples"))
                .flatMap(directory -> modulesIn(directory).stream())
                .toList();
    }

    private static List<Path> modulesIn(Path directory) {
        try (Stream<Path> found = Files.list(directory)) {
            return found.filter(module -> Files.isRegularFile(module.resolve("pom.xml")))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Every Java file of main code except package descriptions. */
    static List<Path> all() {
        return modules().stream()
                .map(module -> module.resolve("src/main/java"))
                .filter(Files::isDirectory)
                .flatMap(SourceFiles::filesUnder)
                .sorted()
                .toList();
    }

    /** Every text of main sources: Java files, package descriptions included. */
    static List<Path> texts() {
        return javaUnder("src/main/java").toList();
    }

    /** Every Java file, tests included. */
    static List<Path> withTests() {
        return Stream.concat(javaUnder("src/main/java"), javaUnder("src/test/java"))
                .toList();
    }

    private static Stream<Path> javaUnder(String sources) {
        return modules().stream()
                .map(module -> module.resolve(sources))
                .filter(Files::isDirectory)
                .flatMap(directory -> walk(directory, ".java"));
    }

    /** Every document but the table of former names. */
    static List<Path> documents() {
        final Stream<Path> ofModules =
                modules().stream().filter(module -> !module.equals(root())).flatMap(SourceFiles::list);
        return Stream.of(list(root()), walk(root().resolve("docs"), ".md"), ofModules)
                .flatMap(each -> each)
                .filter(document -> !document.endsWith("names.md"))
                .sorted()
                .toList();
    }

    private static Stream<Path> list(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".md")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> walk(Path directory, String ending) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(ending)).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Number of files per package. */
    static Map<String, Long> typesByPackage() {
        return all().stream().collect(Collectors.groupingBy(SourceFiles::packageOf, Collectors.counting()));
    }

    /** The package descriptions of that name: one, unless two modules share the package. */
    static List<String> descriptionsOf(String name) {
        return modules().stream()
                .map(module -> module.resolve("src/main/java")
                        .resolve(name.replace('.', '/'))
                        .resolve("package-info.java"))
                .filter(Files::isRegularFile)
                .map(SourceFiles::textOf)
                .toList();
    }

    private static String textOf(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The packages that contain these files. */
    static Set<String> packages() {
        return new TreeSet<>(typesByPackage().keySet());
    }

    private static String packageOf(Path file) {
        final String path = file.getParent().toString().replace('\\', '/');
        return path.substring(path.indexOf("/src/main/java/") + "/src/main/java/".length())
                .replace('/', '.');
    }

    static long lineCount(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> filesUnder(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files
                    .filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("package-info.java"))
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
