package org.rowankv.jcache.classes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.concurrent.ExecutionException;
import javax.cache.CacheException;
import javax.management.BadAttributeValueExpException;
import org.junit.jupiter.api.Test;

final class AllowedClassesTest {
    @Test
    void shouldRefuseAPresetThatDoesNotExist() {
        assertThatThrownBy(() -> AllowedClasses.of("com.acme.**;@sprung"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("\"@sprung\"")
                .hasMessageContaining("@spring, @hibernate, @jdk");
    }

    @Test
    void shouldAllowTheExceptionsOfTheJdkByItsPreset() {
        final AllowedClasses jdk = AllowedClasses.of("@jdk");
        assertThat(jdk.contains(IllegalStateException.class)).isTrue();
        assertThat(jdk.contains(ExecutionException.class)).isTrue();
        assertThat(jdk.contains(UncheckedIOException.class)).isTrue();
        assertThat(jdk.contains(CacheException.class)).as("not of the JDK").isFalse();
        assertThat(jdk.contains(java.lang.invoke.SerializedLambda.class)).isFalse();
        assertThat(AllowedClasses.of("").contains(IllegalStateException.class)).isFalse();
    }

    @Test
    void shouldSuggestThePresetOrTheNameBesideWhatIsListed() {
        assertThat(AllowedClasses.of("").lineWith(AllowedClassesTest.class, false))
                .isEqualTo("rowan.allowed-classes=" + AllowedClassesTest.class.getName());
        assertThat(AllowedClasses.of("@spring, com.acme.*").lineWith(IllegalStateException.class, false))
                .isEqualTo("rowan.allowed-classes=@spring;com.acme.*;@jdk");
    }

    /** The line must not close what is open, and a preset does not include what is known from attacks. */
    @Test
    void shouldSuggestEveryClassAndTheNameWhereOnlyDeniedClassesAreRefused() {
        assertThat(AllowedClasses.NONE.lineWith(BadAttributeValueExpException.class, true))
                .isEqualTo("rowan.allowed-classes=**;javax.management.BadAttributeValueExpException");
    }

    @Test
    void shouldKnowClassesOfAttacksWithTheirNestedClasses() {
        assertThat(DeniedClasses.contains("org.apache.commons.collections.functors.InvokerTransformer"))
                .isTrue();
        assertThat(DeniedClasses.contains("org.springframework.core.SerializableTypeWrapper$MethodInvokeTypeProvider"))
                .isTrue();
        assertThat(DeniedClasses.contains("clojure.core$comp")).isTrue();
        assertThat(DeniedClasses.contains("org.apache.commons.collections.map.LinkedMap"))
                .isFalse();
        assertThat(DeniedClasses.contains("org.hibernate.cache.spi.QueryKey")).isFalse();
    }

    /** The framework is not on this class path; the preset of the JDK is not for every application. */
    @Test
    void shouldGiveAnExampleOfWhatTheApplicationHas() {
        assertThat(AllowedClasses.exampleLine(getClass().getClassLoader()))
                .isEqualTo("rowan.allowed-classes=your.package.**");
        final ClassLoader withHibernate = new ClassLoader(getClass().getClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (name.equals("org.hibernate.Hibernate")) {
                    return AllowedClassesTest.class;
                }
                throw new ClassNotFoundException(name);
            }
        };
        assertThat(AllowedClasses.exampleLine(withHibernate))
                .isEqualTo("rowan.allowed-classes=@hibernate;your.package.**");
    }
}
