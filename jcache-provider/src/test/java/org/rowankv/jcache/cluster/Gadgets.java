package org.rowankv.jcache.cluster;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.management.BadAttributeValueExpException;

/** Objects of classes that run code when they are deserialized, and objects that hide them. */
@SuppressWarnings("unused") // what only serialization uses
final class Gadgets {
    /** Times that code of a gadget ran. */
    static final AtomicInteger RUNS = new AtomicInteger();

    private Gadgets() {}

    static class ReadsObject implements Serializable {
        private static final long serialVersionUID = 1L;

        private void readObject(ObjectInputStream in) {
            RUNS.incrementAndGet();
        }
    }

    static final class ExtendsAGadget extends ReadsObject {
        private static final long serialVersionUID = 1L;
    }

    static final class Resolves implements Serializable {
        private static final long serialVersionUID = 1L;

        private Object readResolve() {
            RUNS.incrementAndGet();
            return "resolved";
        }
    }

    static final class HasAProxy implements Serializable {
        private static final long serialVersionUID = 1L;

        private Object writeReplace() {
            return new Resolves();
        }
    }

    /** Its public constructor runs. */
    public static final class External implements Externalizable {
        private static final long serialVersionUID = 1L;

        public External() {
            RUNS.incrementAndGet();
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(1);
        }

        @Override
        public void readExternal(ObjectInput in) {
            RUNS.incrementAndGet();
        }
    }

    static final class Hashes implements Serializable, Comparable<Hashes> {
        private static final long serialVersionUID = 1L;

        @Override
        public int hashCode() {
            return RUNS.incrementAndGet();
        }

        @Override
        public boolean equals(Object other) {
            return RUNS.incrementAndGet() > 0 && other == this;
        }

        @Override
        public int compareTo(Hashes other) {
            return RUNS.incrementAndGet();
        }
    }

    static final class Compares implements Comparator<Object>, Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public int compare(Object one, Object other) {
            return RUNS.incrementAndGet();
        }
    }

    record Constructed(String name) implements Serializable {
        Constructed {
            RUNS.incrementAndGet();
        }
    }

    static final class OfAMap extends HashMap<String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String put(String key, String value) {
            RUNS.incrementAndGet();
            return "";
        }
    }

    static final class OfADate extends Date {
        private static final long serialVersionUID = 1L;

        private void readObject(ObjectInputStream in) {
            RUNS.incrementAndGet();
        }
    }

    static final class OfAnException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private void readObject(ObjectInputStream in) {
            RUNS.incrementAndGet();
        }
    }

    static final class OfANumber extends Number {
        private static final long serialVersionUID = 1L;

        private Object readResolve() {
            RUNS.incrementAndGet();
            return 1;
        }

        @Override
        public int intValue() {
            return RUNS.incrementAndGet();
        }

        @Override
        public long longValue() {
            return RUNS.incrementAndGet();
        }

        @Override
        public float floatValue() {
            return RUNS.incrementAndGet();
        }

        @Override
        public double doubleValue() {
            return RUNS.incrementAndGet();
        }
    }

    static final class Handles implements InvocationHandler, Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            RUNS.incrementAndGet();
            return method.getReturnType() == int.class
                    ? (Object) 1
                    : method.getReturnType() == boolean.class ? (Object) (proxy == arguments[0]) : "text";
        }
    }

    static final class HoldsAGadget implements Serializable {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial")
        private final Object held = new Resolves();
    }

    private static Object proxy() {
        return Proxy.newProxyInstance(Gadgets.class.getClassLoader(), new Class<?>[] {Comparable.class}, new Handles());
    }

    private static Map<Object, Object> sortedByGadget() {
        final Map<Object, Object> sorted = new TreeMap<>(new Compares());
        sorted.put("one", 1);
        sorted.put("two", 2);
        return sorted;
    }

    private static PriorityQueue<Object> queueOfGadgets() {
        final PriorityQueue<Object> queue = new PriorityQueue<>(new Compares());
        queue.add("one");
        queue.add("two");
        return queue;
    }

    private static final List<Supplier<Object>> KERNELS = List.of(
            ReadsObject::new,
            ExtendsAGadget::new,
            Resolves::new,
            HasAProxy::new,
            External::new,
            Hashes::new,
            Compares::new,
            () -> new Constructed("x"),
            OfAMap::new,
            OfADate::new,
            OfAnException::new,
            OfANumber::new,
            Gadgets::proxy,
            Gadgets::sortedByGadget,
            Gadgets::queueOfGadgets,
            HoldsAGadget::new,
            () -> new ReadsObject[] {new ReadsObject()},
            () -> (Supplier<String> & Serializable) () -> "lambda",
            () -> new BadAttributeValueExpException(new Resolves()),
            () -> new RuntimeException(new OfAnException()));

    private static Object deep(Object gadget, UnaryOperator<Object> wrap) {
        Object wrapped = gadget;
        for (int i = 0; i < 20; i++) {
            wrapped = wrap.apply(wrapped);
        }
        return wrapped;
    }

    private static final List<UnaryOperator<Object>> COVERS = List.of(
            gadget -> gadget,
            gadget -> new ArrayList<>(List.of(gadget)),
            gadget -> new Object[] {"before", gadget},
            gadget -> new Serializable[] {(Serializable) gadget},
            gadget -> new HashMap<>(Map.of("key", gadget)),
            gadget -> new LinkedHashMap<>(Map.of(gadget, "value")),
            gadget -> new LinkedHashSet<>(List.of(gadget)),
            gadget -> new AbstractMap.SimpleEntry<>("key", gadget),
            gadget -> deep(gadget, each -> new ArrayList<>(List.of(each))),
            gadget -> new ForeignBytesTest.Book("title", new ArrayList<>(List.of(gadget))));

    /** Each gadget under each cover. */
    static List<Object> all() {
        final List<Object> all = new ArrayList<>();
        KERNELS.forEach(kernel -> COVERS.forEach(cover -> all.add(cover.apply(kernel.get()))));
        return all;
    }
}
