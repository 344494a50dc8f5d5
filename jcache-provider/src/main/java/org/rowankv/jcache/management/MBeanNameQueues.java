package org.rowankv.jcache.management;

import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import javax.cache.CacheException;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queues of beans per name in the platform's MBean server: the first is registered, and its removal registers the next.
 * So an application that is redeployed before its old version ends has its beans registered eventually. References only
 * registered and waiting beans. Thread-safe: guarded by the class.
 */
final class MBeanNameQueues {
    private static final Logger LOG = LoggerFactory.getLogger(MBeanNameQueues.class);
    private static final Map<ObjectName, Deque<Object>> WAITING = new HashMap<>();
    private static final Map<ObjectName, Object> REGISTERED = new HashMap<>();

    private MBeanNameQueues() {}

    static synchronized void add(ObjectName name, Object bean) {
        final Deque<Object> beans = WAITING.computeIfAbsent(name, n -> new ArrayDeque<>());
        beans.add(bean);
        boolean taken = false;
        try {
            registerFirst(name, beans);
            taken = true;
        } finally {
            if (!taken) {
                forget(name, beans, bean);
            }
        }
    }

    static synchronized void remove(ObjectName name, Object bean) {
        final Deque<Object> beans = WAITING.get(name);
        if (beans == null) {
            return;
        }
        forget(name, beans, bean);
        if (REGISTERED.remove(name, bean)) {
            unregister(name);
            registerFirst(name, beans);
        }
    }

    private static void forget(ObjectName name, Deque<Object> beans, Object bean) {
        beans.removeIf(each -> each == bean);
        if (beans.isEmpty()) {
            WAITING.remove(name);
        }
    }

    private static void registerFirst(ObjectName name, Deque<Object> beans) {
        final Object first = beans.peek();
        if (first == null || REGISTERED.containsKey(name)) {
            return;
        }
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(first, name);
            REGISTERED.put(name, first);
        } catch (InstanceAlreadyExistsException e) {
            LOG.debug("MXBean name in use name={}", name, e);
        } catch (JMException e) {
            throw new CacheException("the MXBean " + name + " cannot be registered", e);
        }
    }

    private static void unregister(ObjectName name) {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (InstanceNotFoundException e) {
            LOG.debug("MXBean already unregistered name={}", name, e);
        } catch (JMException e) {
            throw new CacheException("the MXBean " + name + " cannot be unregistered", e);
        }
    }
}
