package org.rowankv.jcache.management;

import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import javax.cache.CacheException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An MXBean of an open cache in the platform's MBean server, under the JSR's name. Among open caches with equal name
 * and URI the oldest has the registration. References what it shows weakly, or the server, which lives as long as the
 * process, would keep the application of a cache that was not closed. Thread-safe.
 */
public final class ShownBean {
    private final ObjectName name;
    private @Nullable Object shown;

    /** @param type the JSR's: CacheConfiguration or CacheStatistics */
    public ShownBean(String type, String managerUri, String cacheName) {
        final String text =
                "javax.cache:type=" + type + ",CacheManager=" + safe(managerUri) + ",Cache=" + safe(cacheName);
        try {
            this.name = new ObjectName(text);
        } catch (JMException e) {
            throw new CacheException("no MXBean can have the name " + text, e);
        }
    }

    /** Replaces characters that an ObjectName cannot contain. */
    private static String safe(String text) {
        return text.replaceAll("[,:=\n\r*?\"]", ".");
    }

    /** @param type the bean's MXBean interface */
    public synchronized <T> void show(Class<T> type, T bean) {
        if (shown == null) {
            final Object weak = Proxy.newProxyInstance(
                    ShownBean.class.getClassLoader(), new Class<?>[] {type}, new WeakCalls(bean));
            MBeanNameQueues.add(name, weak);
            shown = weak;
        }
    }

    /** Calls of a bean that may be gone. */
    private static final class WeakCalls implements InvocationHandler {
        private final WeakReference<Object> bean;

        WeakCalls(Object bean) {
            this.bean = new WeakReference<>(bean);
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                    case "equals" -> arguments != null && proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "an MXBean of a cache";
                };
            }
            final Object present = bean.get();
            if (present == null) {
                throw new IllegalStateException("the cache is gone with its application");
            }
            try {
                return method.invoke(present, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }
    }

    public synchronized void hide() {
        final Object bean = shown;
        if (bean != null) {
            shown = null;
            MBeanNameQueues.remove(name, bean);
        }
    }
}
