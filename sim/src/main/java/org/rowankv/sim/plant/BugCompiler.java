package org.rowankv.sim.plant;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Compiler of single source files against the classes of this program, in memory. Its file manager is reused, so that
 * only the first compilation opens the class path. Confined to one thread.
 */
final class BugCompiler implements AutoCloseable {
    private static final String SCHEME = "planted:///";

    private final JavaCompiler compiler;
    private final JavaFileManager files;

    BugCompiler() {
        final JavaCompiler found = ToolProvider.getSystemJavaCompiler();
        if (found == null) {
            throw new IllegalStateException("planting bugs needs a compiler: run this with a JDK");
        }
        this.compiler = found;
        this.files = found.getStandardFileManager(null, null, null);
    }

    /**
     * Result of compiling some source files.
     *
     * @param classes by the name of the source file's class: its class files by their names
     * @param errors by the name of the source file's class: the first error in it
     */
    record Compiled(Map<String, Map<String, byte[]>> classes, Map<String, String> errors) {}

    /** The class files of one class with a bug, by their names. */
    Map<String, byte[]> compile(PlantedBug bug, SourceTree tree) {
        final Compiled compiled = compile(Map.of(bug.type(), tree.sourceWith(bug)));
        final String error = compiled.errors().get(bug.type());
        if (error != null) {
            throw new IllegalStateException("the planted bug '" + bug.name() + "' does not compile: " + error);
        }
        return compiled.classes().getOrDefault(bug.type(), Map.of());
    }

    /**
     * Compiles some files in one task, so that they see each other.
     *
     * @param sources by the name of their class
     */
    Compiled compile(Map<String, String> sources) {
        final Classes classes = new Classes(files);
        final DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
        final List<Source> units = new ArrayList<>();
        sources.forEach((type, text) -> units.add(new Source(type, text)));
        // Without line numbers, so that classes are comparable: a bug that changes no class is invalid.
        final boolean all = compiler.getTask(
                        null,
                        classes,
                        messages,
                        List.of(
                                "-proc:none",
                                "-implicit:none",
                                "-nowarn",
                                "-g:none",
                                "-classpath",
                                System.getProperty("java.class.path")),
                        null,
                        units)
                .call();
        final Map<String, String> errors = new HashMap<>();
        for (Diagnostic<? extends JavaFileObject> message : messages.getDiagnostics()) {
            if (message.getKind() == Diagnostic.Kind.ERROR) {
                errors.putIfAbsent(typeOf(message.getSource()), message.getMessage(Locale.ROOT));
            }
        }
        if (all != errors.isEmpty()) {
            throw new IllegalStateException("the compiler contradicts its messages: " + messages.getDiagnostics());
        }
        return new Compiled(classes.written(), errors);
    }

    private static String typeOf(@Nullable JavaFileObject source) {
        if (source instanceof Source ours) {
            return ours.type;
        }
        throw new IllegalStateException("the compiler reports an error in " + source);
    }

    @Override
    public void close() throws IOException {
        files.close();
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String type;
        private final String text;

        Source(String type, String text) {
            super(URI.create(SCHEME + type.replace('.', '/') + ".java"), Kind.SOURCE);
            this.type = type;
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class Classes extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, Map<String, ByteArrayOutputStream>> streams = new HashMap<>();

        Classes(JavaFileManager below) {
            super(below);
        }

        Map<String, Map<String, byte[]>> written() {
            final Map<String, Map<String, byte[]>> written = new HashMap<>();
            streams.forEach((type, classes) -> classes.forEach((name, bytes) ->
                    written.computeIfAbsent(type, first -> new HashMap<>()).put(name, bytes.toByteArray())));
            return written;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            final String type = name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
            return new SimpleJavaFileObject(URI.create(SCHEME + name.replace('.', '/') + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    streams.computeIfAbsent(type, first -> new HashMap<>()).put(name, bytes);
                    return bytes;
                }
            };
        }
    }
}
