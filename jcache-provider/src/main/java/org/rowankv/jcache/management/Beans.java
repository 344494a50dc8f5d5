package org.rowankv.jcache.management;

import java.lang.management.ManagementFactory;
import javax.cache.CacheException;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MXBeans of one opening of a cache in the platform's MBean server, under the names the JSR gives. The beans of
 * two openings of one name under one URI cannot both be there: the older ones stay. Thread-safe.
 */
public final class Beans {
    private static final Logger LOG = LoggerFactory.getLogger(Beans.class);

    private final ObjectName configurationName;
    private final ObjectName statisticsName;
    private boolean configurationShown;
    private boolean statisticsShown;

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
        configurationShown |= register(bean, configurationName);
    }

    public synchronized void hideConfiguration() {
        if (configurationShown) {
            unregister(configurationName);
            configurationShown = false;
        }
    }

    public synchronized void showStatistics(StatisticsBean bean) {
        statisticsShown |= register(bean, statisticsName);
    }

    public synchronized void hideStatistics() {
        if (statisticsShown) {
            unregister(statisticsName);
            statisticsShown = false;
        }
    }

    /** Whether the bean is registered now and was not before. */
    private static boolean register(Object bean, ObjectName name) {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, name);
            return true;
        } catch (InstanceAlreadyExistsException e) {
            LOG.debug("the MXBean {} is another opening's", name, e);
            return false;
        } catch (JMException e) {
            throw new CacheException("the MXBean " + name + " cannot be registered", e);
        }
    }

    private static void unregister(ObjectName name) {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (InstanceNotFoundException e) {
            LOG.debug("the MXBean {} is gone already", name, e);
        } catch (JMException e) {
            throw new CacheException("the MXBean " + name + " cannot be unregistered", e);
        }
    }
}
