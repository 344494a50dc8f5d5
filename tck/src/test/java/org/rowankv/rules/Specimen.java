package org.rowankv.rules;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A few small classes, compiled on the fly, that keep or break a rule: a rule can be tested on code that must not be in
 * the project.
 */
final class Specimen {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

    private final List<JavaFileObject> sources = new ArrayList<>();

    /** Adds a public class of that full name with these members. */
    Specimen type(String name, String... members) {
        final int dot = name.lastIndexOf('.');
        return source(
                name,
                "package " + name.substring(0, dot) + ";\n\npublic class " + name.substring(dot + 1) + " {\n"
                        + String.join("\n", members) + "\n}\n");
    }

    /** Adds a file with exactly this text. */
    Specimen source(String name, String text) {
        sources.add(
                new SimpleJavaFileObject(
                        URI.create("string:///" + name.replace('.', '/') + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return text;
                    }
                });
        return this;
    }

    /** Returns the compiled classes, as the rules see main code. The directory must be empty. */
    JavaClasses classes(Path directory) throws IOException {
        final StringWriter complaints = new StringWriter();
        Files.createDirectories(directory);
        final boolean compiled = COMPILER.getTask(
                        complaints,
                        FILES,
                        null,
                        List.of("-d", directory.toString(), "-proc:none", "-nowarn"),
                        null,
                        sources)
                .call();
        if (!compiled) {
            throw new AssertionError("the specimen does not compile:\n" + complaints);
        }
        return new ClassFileImporter().importPath(directory);
    }
}
