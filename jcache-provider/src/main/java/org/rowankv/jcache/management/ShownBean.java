package org.rowankv.jcache.management;

import javax.cache.CacheException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An MXBean of one opening of a cache in the platform's MBean server, under the name the JSR gives. Of several openings of one
 * name under one URI the oldest has its bean there. Thread-safe.
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

    /** What an ObjectName cannot hold becomes a dot. */
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
