package org.rowankv.check.keys;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Classes of keys as applications have them. */
final class KeyClasses {
    private KeyClasses() {}

    /** Of the same type twice. */
    record Texts(String a, String b) {}

    /** Of objects of any class. */
    record Anything(Object a, @Nullable Object b) {}

    /** Of all primitive types. */
    record Primitives(boolean a, byte b, short c, char d, int e, long f, float g, double h) {}

    /** Of collections. */
    record Collected(List<String> list, Set<Object> set, Map<String, Integer> map) {}

    /** Of records. */
    record Nested(Texts texts, List<Texts> list) {}

    /** Of itself. */
    record Tree(String name, List<Object> children) {}

    /** Without components. */
    record Empty() {}

    /** Has a body at a constant, and so a class of its own. */
    enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "green";
            }
        }
    }

    /** Fields and an equals as an IDE writes it. */
    static class Plain implements Serializable {
        private static final long serialVersionUID = 1L;

        private final String name;
        private final int number;

        Plain(String name, int number) {
            this.name = name;
            this.number = number;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other != null
                    && other.getClass() == getClass()
                    && name.equals(((Plain) other).name)
                    && number == ((Plain) other).number;
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, number);
        }
    }

    /** A subclass with a field of the same name. */
    static final class Sub extends Plain {
        private static final long serialVersionUID = 1L;

        private final @Nullable String name;

        Sub(String name, int number, @Nullable String own) {
            super(name, number);
            this.name = own;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Sub that && super.equals(other) && Objects.equals(name, that.name);
        }

        @Override
        public int hashCode() {
            return 31 * super.hashCode() + Objects.hashCode(name);
        }
    }

    /** Of the arguments of a call, with a hash code that it keeps and makes again when read. */
    static final class Arguments implements Serializable {
        private static final long serialVersionUID = 1L;

        private final Object[] values;
        private transient int hash;

        Arguments(Object... values) {
            this.values = values.clone();
            this.hash = Arrays.deepHashCode(this.values);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            hash = Arrays.deepHashCode(values);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Arguments that && Arrays.deepEquals(values, that.values);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** Compares numbers with the operator, for which 0.0 and -0.0 are the same. */
    static final class Point implements Serializable {
        private static final long serialVersionUID = 1L;

        private final double x;
        private final float y;

        Point(double x, float y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Point that && x == that.x && y == that.y;
        }

        @Override
        public int hashCode() {
            return Double.hashCode(x + 0.0) + Float.hashCode(y + 0.0f);
        }
    }
}
