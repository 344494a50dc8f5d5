package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jvm")
class ClassRulesTest {
    private static class Animal implements Serializable {
        private static final long serialVersionUID = 1L;
        final String name;

        Animal(String name) {
            this.name = name;
        }
    }

    private static final class Dog extends Animal {
        private static final long serialVersionUID = 1L;

        Dog(String name) {
            super(name);
        }
    }

    private static final class Gadget implements Serializable {
        private static final long serialVersionUID = 1L;
        static boolean read;

        private Object readResolve() {
            read = true;
            return this;
        }
    }

    private static Codec codec(String patterns, Class<?>... types) {
        return new Codec(
                new LoaderReference(ClassRulesTest.class.getClassLoader()),
                new ClassRules(List.of(types), patterns),
                KeyFormat.STRUCTURAL,
                true);
    }

    private static byte[] encode(Codec codec, Object value) {
        final ByteSink sink = new ByteSink(8);
        codec.encode(value, sink);
        return sink.toBytes();
    }

    private static Object roundTrip(Codec codec, Object value) {
        final byte[] bytes = encode(codec, value);
        return codec.decode(bytes, 0, bytes.length);
    }

    @Test
    void shouldRefuseToWriteWhatItWouldRefuseToRead() {
        final Codec strict = codec("");
        assertThatThrownBy(() -> encode(strict, new ArrayList<>(List.of(new Gadget()))))
                .isInstanceOf(ClassNotAllowedException.class)
                .hasMessageContaining(Gadget.class.getName())
                .hasMessageEndingWith("rowan.allowed-classes=" + Gadget.class.getName());
    }

    @Test
    void shouldRefuseToReadBeforeAnythingRuns() {
        final byte[] bytes = encode(codec(Gadget.class.getName()), new ArrayList<>(List.of(new Gadget())));
        Gadget.read = false;
        assertThatThrownBy(() -> codec("").decode(bytes, 0, bytes.length))
                .isInstanceOfSatisfying(
                        ClassNotAllowedException.class,
                        e -> assertThat(e.className()).isEqualTo(Gadget.class.getName()));
        assertThat(Gadget.read).isFalse();
    }

    @Test
    void shouldAllowConfiguredTypesAndWhatExtendsThem() {
        assertThat(((Animal) roundTrip(codec("", Animal.class), new Dog("rex"))).name)
                .isEqualTo("rex");
        assertThat(((Animal) roundTrip(codec("", Dog.class), new Dog("rex"))).name)
                .isEqualTo("rex");
        assertThat(((Animal[]) roundTrip(codec("", Animal[].class), new Animal[] {new Dog("rex")}))[0].name)
                .isEqualTo("rex");
        assertThatThrownBy(() -> encode(codec("", Object.class), new Dog("rex")))
                .isInstanceOf(ClassNotAllowedException.class);
        assertThatThrownBy(() -> encode(codec("", Serializable.class), new Dog("rex")))
                .as("a type of the JDK allows nothing beyond itself")
                .isInstanceOf(ClassNotAllowedException.class);
    }

    @Test
    void shouldMatchPatternsByNameAndPackage() {
        final Dog dog = new Dog("rex");
        assertThat(roundTrip(codec("org.rowankv.jcache.codec.*"), dog)).isInstanceOf(Dog.class);
        assertThat(roundTrip(codec("a.b.C; org.rowankv.** "), dog)).isInstanceOf(Dog.class);
        assertThat(roundTrip(codec(Dog.class.getName() + "," + Animal.class.getName()), dog))
                .isInstanceOf(Dog.class);
        assertThatThrownBy(() -> encode(codec("org.rowankv.jcache.*"), dog))
                .isInstanceOf(ClassNotAllowedException.class);
        assertThatThrownBy(() -> encode(codec("org.rowankv.jcache.codecs.**"), dog))
                .isInstanceOf(ClassNotAllowedException.class);
    }

    /** Every prefix of a class name, as a pattern of every form. */
    @Test
    void shouldLetAPatternEndAtADotOnly() {
        final String name = Dog.class.getName();
        for (int end = 1; end <= name.length(); end++) {
            final String part = name.substring(0, end);
            final boolean isPackage = name.startsWith(part + ".");
            final boolean isOwnPackage = isPackage && name.indexOf('.', end + 1) < 0;
            assertThat(allowsDog(part + ".**")).as("%s.**", part).isEqualTo(isPackage);
            assertThat(allowsDog(part + ".*")).as("%s.*", part).isEqualTo(isOwnPackage);
            assertThat(allowsDog(part)).as(part).isEqualTo(end == name.length());
        }
        assertThat(allowsDog(name + "x")).isFalse();
        assertThat(allowsDog("**")).isTrue();
    }

    private static boolean allowsDog(String pattern) {
        return new ClassRules(List.of(), pattern).allows(Dog.class);
    }

    @Test
    void shouldRefuseLambdasAndProxies() {
        final Supplier<String> lambda = (Supplier<String> & Serializable) () -> "x";
        assertThatThrownBy(() -> encode(codec(""), lambda)).isInstanceOf(ClassNotAllowedException.class);
        final Object proxy = java.lang.reflect.Proxy.newProxyInstance(
                ClassRulesTest.class.getClassLoader(),
                new Class<?>[] {Runnable.class},
                (java.lang.reflect.InvocationHandler & Serializable) (p, method, arguments) -> null);
        assertThatThrownBy(() -> encode(codec(""), proxy)).isInstanceOf(ClassNotAllowedException.class);
    }

    @Test
    void shouldWriteAndReadEveryClassWhenOpenButThoseOfAttacks() {
        final Codec open = new Codec(
                new LoaderReference(getClass().getClassLoader()), ClassRules.open(), KeyFormat.STRUCTURAL, true);
        assertThat(((Animal) roundTrip(open, new Dog("rex"))).name).isEqualTo("rex");
        assertThat(roundTrip(open, new IllegalStateException("x"))).isInstanceOf(IllegalStateException.class);
        final Supplier<String> lambda = (Supplier<String> & Serializable) () -> "x";
        assertThat(((Supplier<?>) roundTrip(open, lambda)).get()).isEqualTo("x");
        final Object denied = new ArrayList<>(List.of(new javax.management.BadAttributeValueExpException("x")));
        for (Codec each : List.of(open, codec("**"))) {
            assertThatThrownBy(() -> encode(each, denied))
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageContaining("known from attacks")
                    .hasMessageEndingWith("rowan.allowed-classes=**;javax.management.BadAttributeValueExpException");
        }
        assertThat(roundTrip(codec("**;javax.management.BadAttributeValueExpException"), denied))
                .isInstanceOf(ArrayList.class);
    }

    /** Hibernate stores {@code Serializable[]}; its elements are checked by their own classes. */
    @Test
    void shouldAllowArraysOfInterfacesAndOfAbstractClasses() {
        assertThat((Serializable[]) roundTrip(codec(""), new Serializable[] {"x", 1L}))
                .containsExactly("x", 1L);
        assertThat((Number[][]) roundTrip(codec(""), new Number[][] {{1, 2L}})).hasDimensions(1, 2);
        assertThatThrownBy(() -> encode(codec(""), new Serializable[] {new Gadget()}))
                .isInstanceOf(ClassNotAllowedException.class);
        assertThatThrownBy(() -> encode(codec(""), new Gadget[0])).isInstanceOf(ClassNotAllowedException.class);
    }
}
