package org.rowankv.jcache.classes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serializable;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

@SuppressWarnings("unused") // fields are read by reflection
final class ComponentTypesTest {
    private interface Shape extends Serializable {}

    private record Circle(Pen pen) implements Shape {}

    private sealed interface Tool extends Serializable permits Pen, Brush {}

    private record Pen(Color color) implements Tool {}

    private record Brush(Width width) implements Tool {}

    private record Width(int mm) implements Serializable {}

    private record Color(int rgb) implements Serializable {}

    private static class Base<T> implements Serializable {
        private static final long serialVersionUID = 1L;
        private static final Stranger SHARED = null;
        private transient Stranger skipped;
        private Inherited inherited;

        @SuppressWarnings("serial")
        private List<? extends T> items;
    }

    private static final class Inherited implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private static final class Stranger implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private static final class Sibling extends Base<String> {
        private static final long serialVersionUID = 1L;
    }

    private static final class Page extends Base<Map<String, Leaf[][]>> {
        private static final long serialVersionUID = 1L;
        private Pattern pattern;

        @SuppressWarnings("serial")
        private Object anything;

        @SuppressWarnings("serial")
        private Comparable<?> comparable;

        private Page next;
    }

    private static final class Leaf implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private static ComponentTypes of(Class<?>... declared) {
        return new ComponentTypes(List.of(declared));
    }

    @Test
    void shouldContainTheTypesOfComponentsAndTheirTypeArguments() {
        final ComponentTypes page = of(Page.class);
        assertThat(page.contains(Page.class)).isTrue();
        assertThat(page.contains(Base.class))
                .as("a superclass is part of its objects")
                .isTrue();
        assertThat(page.contains(Leaf.class))
                .as("below arrays in a map in a list")
                .isTrue();
        assertThat(page.contains(Inherited.class))
                .as("a field of the superclass")
                .isTrue();
        assertThat(page.contains(Pattern.class)).as("a class of the JDK").isTrue();
    }

    @Test
    void shouldNotContainWhatIsNotWritten() {
        final ComponentTypes page = of(Page.class);
        assertThat(page.contains(Stranger.class))
                .as("static and transient fields")
                .isFalse();
        assertThat(page.contains(Sibling.class))
                .as("another subclass of the superclass")
                .isFalse();
        assertThat(page.contains(GregorianCalendar.class))
                .as("Object and Comparable say nothing")
                .isFalse();
    }

    @Test
    void shouldContainImplementationsOfTheApplicationsTypes() {
        assertThat(of(Shape.class).contains(Circle.class)).isTrue();
        assertThat(of(Shape.class).contains(Pen.class))
                .as("found only through an implementation")
                .isFalse();
        assertThat(of(Tool.class).contains(Width.class))
                .as("of a sealed type all are known")
                .isTrue();
        assertThat(of(Tool.class).contains(Circle.class)).isFalse();
    }

    @Test
    void shouldContainAClassOfTheJdkWithoutItsSubclasses() {
        assertThat(of(Throwable.class).contains(IllegalStateException.class)).isFalse();
        assertThat(of(Throwable.class).contains(Throwable.class)).isTrue();
        assertThat(of(Object.class, Serializable.class).contains(Leaf.class)).isFalse();
    }
}
