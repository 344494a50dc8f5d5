package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM started with a serial filter or a filter factory. */
@Timeout(120)
@Tag("jvm")
final class SerialFilterTest {
    private static class Refused implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private static final class Accepted implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** Applies its own filter and drops every other. */
    public static final class DroppingFactory implements BinaryOperator<ObjectInputFilter> {
        @Override
        public ObjectInputFilter apply(ObjectInputFilter current, ObjectInputFilter requested) {
            return ObjectInputFilter.rejectFilter(type -> type == Refused.class, ObjectInputFilter.Status.UNDECIDED);
        }
    }

    /** In the other JVM: prints what becomes of each class, with rules that allow only these. */
    public static final class Program {
        private Program() {}

        public static void main(String[] args) {
            final LoaderReference loader = new LoaderReference(Program.class.getClassLoader());
            final Codec open = new Codec(loader, ClassRules.open(), KeyFormat.STRUCTURAL, false);
            final Codec closed =
                    new Codec(loader, new ClassRules(List.of(Refused.class), ""), KeyFormat.STRUCTURAL, false);
            print("write", () -> encode(open, new Refused()));
            print("accepted", () -> decode(open, encode(open, new Accepted())));
            print("listed", () -> decode(closed, encode(open, new Accepted())));
            print("read", () -> decode(open, patched(encode(open, new Accepted()))));
            final Codec named = new Codec(loader, ClassRules.open(), KeyFormat.STRUCTURAL, true);
            print("write by name", () -> encode(named, new Refused()));
            print("read by name", () -> decode(named, named(Refused.class)));
            print("accepted by name", () -> decode(named, named(Accepted.class)));
        }

        private static void print(String what, Runnable step) {
            try {
                step.run();
                System.out.println(what + ": fine");
            } catch (ClassNotAllowedException e) {
                System.out.println(what + ": " + e.getMessage());
            }
        }

        private static byte[] encode(Codec codec, Object value) {
            final ByteSink sink = new ByteSink(8);
            codec.encode(value, sink);
            return sink.toBytes();
        }

        private static void decode(Codec codec, byte[] bytes) {
            final Object unused = codec.decode(bytes, 0, bytes.length);
        }

        /** As another JVM without the filter would write it: the two names are of different lengths. */
        private static byte[] patched(byte[] accepted) {
            final String text = new String(accepted, StandardCharsets.ISO_8859_1);
            final String name = Accepted.class.getName();
            final int at = text.indexOf(name);
            final String refused = Refused.class.getName();
            return (text.substring(0, at - 1) + (char) refused.length() + refused + text.substring(at + name.length()))
                    .getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    /** An object without fields, as another JVM without the filter would write it. */
    private static byte[] named(Class<?> type) {
        final byte[] name = type.getName().getBytes(StandardCharsets.UTF_8);
        final ByteSink sink = new ByteSink(64);
        sink.write(org.rowankv.jcache.codec.Tag.NAMED_FIELDS);
        sink.writeShort(name.length + 2);
        sink.writeShort(name.length);
        sink.write(name, 0, name.length);
        return sink.toBytes();
    }

    private static List<String> run(String option) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                option,
                Program.class.getName()));
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(process.waitFor()).as("%s", printed).isZero();
        return printed;
    }

    @Test
    void shouldRefuseWhatTheFilterOfTheJvmRefuses() throws Exception {
        final List<String> printed = run("-Djdk.serialFilter=!" + Refused.class.getName());
        assertThat(printed).anyMatch(line -> line.startsWith("write: the serial filter of this JVM"));
        assertThat(printed)
                .anyMatch(line -> line.startsWith("read: the serial filter of this JVM")
                        && line.contains("refuses class " + Refused.class.getName()));
        assertThat(printed).contains("accepted: fine", "accepted by name: fine");
        assertThat(printed).anyMatch(line -> line.startsWith("write by name: the serial filter of this JVM"));
        assertThat(printed).anyMatch(line -> line.startsWith("read by name: the serial filter of this JVM"));
        assertThat(printed).anyMatch(line -> line.startsWith("listed: the class " + Accepted.class.getName()));
    }

    @Test
    void shouldKeepItsRulesAndThoseOfAFactoryThatDropsOurFilter() throws Exception {
        final List<String> printed = run("-Djdk.serialFilterFactory=" + DroppingFactory.class.getName());
        assertThat(printed).anyMatch(line -> line.startsWith("read: the serial filter of this JVM"));
        assertThat(printed).contains("accepted: fine");
        assertThat(printed).anyMatch(line -> line.startsWith("listed: the class " + Accepted.class.getName()));
    }
}
