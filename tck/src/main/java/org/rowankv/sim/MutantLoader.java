package org.rowankv.sim;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Loads the whole of Rowan-KV once more, with one planted bug: the class in question is compiled from its changed source,
 * all others are those of this program.
 */
public final class MutantLoader extends ClassLoader {
    private static final String OURS = "org.rowankv.";

    private final Map<String, byte[]> changed;

    private MutantLoader(Map<String, byte[]> changed) {
        super(MutantLoader.class.getClassLoader());
        this.changed = changed;
        setDefaultAssertionStatus(true);
    }

    static MutantLoader with(PlantedBug bug, Path root) throws IOException {
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("planting bugs needs a compiler: run this with a JDK");
        }
        final String source = bug.plantIn(Files.readString(root.resolve(bug.sourcePath())));
        final Classes classes = new Classes(compiler.getStandardFileManager(null, null, null));
        final StringWriter messages = new StringWriter();
        final boolean compiled = compiler.getTask(
                        messages,
                        classes,
                        null,
                        List.of("-proc:none", "-nowarn", "-classpath", System.getProperty("java.class.path")),
                        null,
                        List.of(new Source(bug.type(), source)))
                .call();
        if (!compiled) {
            throw new IllegalStateException("the planted bug '" + bug.name() + "' does not compile: " + messages);
        }
        final Map<String, byte[]> changed = new HashMap<>();
        classes.written.forEach((name, bytes) -> changed.put(name, bytes.toByteArray()));
        return new MutantLoader(changed);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            final Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        byte[] bytes = changed.get(name);
        if (bytes == null) {
            try (InputStream stream = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (stream == null) {
                    throw new ClassNotFoundException(name);
                }
                bytes = stream.readAllBytes();
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String type, String text) {
            super(URI.create("string:///" + type.replace('.', '/') + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class Classes extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

        Classes(JavaFileManager below) {
            super(below);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("mem:///" + name.replace('.', '/') + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    written.put(name, bytes);
                    return bytes;
                }
            };
        }
    }
}
