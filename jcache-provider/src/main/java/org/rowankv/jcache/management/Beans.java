package org.rowankv.jcache.management;

import javax.cache.CacheException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The MXBeans of one opening of a cache in the platform's MBean server, under the names the JSR gives. Of
 * several openings of one name under one URI the oldest has its beans there. Thread-safe.
 */
public final class Beans {
    private final ObjectName configurationName;
    private final ObjectName statisticsName;
    private @Nullable ConfigurationBean configuration;
    private @Nullable StatisticsBean statistics;

    public Beans(String managerUri, String cacheName) {
        this.configurationName = name("CacheConfiguration", managerUri, cacheName);
        this.statisticsName = name("CacheStatistics", managerUri, cacheName);
    }

    private static ObjectName name(String type, String managerUri, String cacheName) {
        final String text =
                "javax.cache:type=" + type + ",CacheManager=" + safe(managerUri) + ",Cache=" + safe(cacheName);
        try {
            return new ObjectName(text);
        } catch (JMException e) {
            throw new CacheException("no MXBean can have the name " + text, e);
        }
    }

    /** What an ObjectName cannot hold becomes a dot. */
    static String safe(String text) {
        return text.replaceAll("[,:=\n\r*?\"]", ".");
    }

    public synchronized void showConfiguration(ConfigurationBean bean) {
        if (configuration == null) {
            BeanQueues.add(configurationName, bean);
            configuration = bean;
        }
    }

    public synchronized void hideConfiguration() {
        final ConfigurationBean shown = configuration;
        if (shown != null) {
            configuration = null;
            BeanQueues.remove(configurationName, shown);
        }
    }

    public synchronized void showStatistics(StatisticsBean bean) {
        if (statistics == null) {
            BeanQueues.add(statisticsName, bean);
            statistics = bean;
        }
    }

    public synchronized void hideStatistics() {
        final StatisticsBean shown = statistics;
        if (shown != null) {
            statistics = null;
            BeanQueues.remove(statisticsName, shown);
        }
    }
}
