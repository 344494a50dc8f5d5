package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java in a document compiles. */
final class SnippetsTest {
    private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final String HEAD = """
            import java.net.URI;
            import java.nio.file.Path;
            import javax.cache.*;
            import javax.cache.configuration.*;
            import javax.cache.spi.*;
            import org.rowankv.driver.*;
            import org.rowankv.server.embedded.*;
            import org.rowankv.server.inspect.*;

            final class Snippet%d {
            """;

    /** What a snippet may use without declaring it. */
    private static final String METHOD =
            "void run(CachingProvider theProvider, CacheManager cacheManager) throws Exception {\n";

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(int number, String text) {
            super(URI.create("string:///Snippet" + number + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static String asClass(int number, String snippet) {
        final boolean declares = snippet.contains("CachingProvider provider");
        final String provider = declares ? "" : "final CachingProvider provider = theProvider;\n";
        return HEAD.formatted(number) + METHOD + provider + snippet + "}\n}\n";
    }

    private static List<String> snippets() throws IOException {
        final List<String> found = new ArrayList<>();
        for (Path document : SourceFiles.documents()) {
            final Matcher matcher = SNIPPET.matcher(Files.readString(document));
            while (matcher.find()) {
                found.add(matcher.group(1));
            }
        }
        return found;
    }

    private static String complaints(List<String> snippets, Path classes) {
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        final List<JavaFileObject> sources = new ArrayList<>();
        for (String snippet : snippets) {
            sources.add(new Source(sources.size(), asClass(sources.size(), snippet)));
        }
        final StringWriter out = new StringWriter();
        final List<String> options =
                List.of("-d", classes.toString(), "-proc:none", "-classpath", System.getProperty("java.class.path"));
        compiler.getTask(out, null, null, options, null, sources).call();
        return out.toString();
    }

    @Test
    void shouldCompile(@TempDir Path classes) throws IOException {
        final List<String> snippets = snippets();
        assertThat(snippets).hasSizeGreaterThan(3);
        assertThat(complaints(snippets, classes)).isEmpty();
    }

    @Test
    void shouldFindWhatDoesNotCompile(@TempDir Path classes) {
        assertThat(complaints(List.of("provider.getCacheManagers();\n"), classes))
                .contains("getCacheManagers");
    }
}
