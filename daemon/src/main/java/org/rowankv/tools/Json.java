package org.rowankv.tools;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes records, maps, collections, arrays, numbers and text as JSON, on one line. */
public final class Json {
    private Json() {}

    public static String of(@Nullable Object value) {
        final StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(@Nullable Object value, StringBuilder out) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Map<?, ?> map) {
            out.append('{');
            map.forEach((key, each) -> member(String.valueOf(key), each, out));
            out.append('}');
        } else if (value instanceof Collection<?> all) {
            out.append('[');
            all.forEach(each -> element(each, out));
            out.append(']');
        } else if (value.getClass().isArray()) {
            out.append('[');
            for (int i = 0; i < Array.getLength(value); i++) {
                element(Array.get(value, i), out);
            }
            out.append(']');
        } else if (value instanceof Record) {
            out.append('{');
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                member(component.getName(), valueOf(component, value), out);
            }
            out.append('}');
        } else {
            quote(value.toString(), out);
        }
    }

    private static void member(String name, @Nullable Object value, StringBuilder out) {
        separate(out);
        quote(name, out);
        out.append(':');
        write(value, out);
    }

    private static void element(@Nullable Object value, StringBuilder out) {
        separate(out);
        write(value, out);
    }

    private static void separate(StringBuilder out) {
        final char last = out.charAt(out.length() - 1);
        if (last != '{' && last != '[') {
            out.append(',');
        }
    }

    private static @Nullable Object valueOf(RecordComponent component, Object value) {
        try {
            return component.getAccessor().invoke(value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + component, e);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
