package org.rowankv.jcache.management;

import javax.cache.CacheException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An MXBean of an open cache in the platform's MBean server, under the JSR's name. Among open caches with equal name
 * and URI the oldest has the registration. Thread-safe.
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

    public synchronized void show(Object bean) {
        if (shown == null) {
            MBeanNameQueues.add(name, bean);
            shown = bean;
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
