package org.rowankv.jcache.classes;

import java.util.List;

/**
 * Packages and classes known from attacks on Java serialization: reading such an object can run what its bytes say. They
 * are refused unless the list of allowed classes has the exact name. The list is not complete, so it protects nothing
 * alone; where foreign bytes can arrive, only listed classes are read.
 */
public final class DeniedClasses {
    private static final List<ClassPattern> PATTERNS = ClassPattern.of(
            "bsh.**",
            "clojure.inspector.**",
            "com.alibaba.druid.**",
            "com.caucho.**",
            "com.mchange.**",
            "com.rometools.rome.feed.impl.**",
            "com.sun.jndi.**",
            "com.sun.org.apache.bcel.**",
            "com.sun.org.apache.xalan.**",
            "com.sun.rowset.**",
            "com.sun.syndication.feed.impl.**",
            "com.tangosol.**",
            "com.vaadin.data.util.**",
            "java.rmi.**",
            "javax.management.**",
            "javax.naming.**",
            "javax.swing.**",
            "net.sf.json.**",
            "org.apache.bcel.**",
            "org.apache.click.**",
            "org.apache.commons.beanutils.**",
            "org.apache.commons.collections.comparators.**",
            "org.apache.commons.collections.functors.**",
            "org.apache.commons.collections.map.LazyMap",
            "org.apache.commons.collections4.comparators.**",
            "org.apache.commons.collections4.functors.**",
            "org.apache.commons.collections4.map.LazyMap",
            "org.apache.commons.configuration.**",
            "org.apache.commons.configuration2.**",
            "org.apache.commons.dbcp.**",
            "org.apache.commons.dbcp2.**",
            "org.apache.commons.fileupload.**",
            "org.apache.myfaces.**",
            "org.apache.openjpa.ee.**",
            "org.apache.tomcat.dbcp.**",
            "org.apache.wicket.util.upload.**",
            "org.apache.xalan.**",
            "org.apache.xbean.naming.**",
            "org.aspectj.weaver.**",
            "org.codehaus.groovy.runtime.**",
            "org.hibernate.property.**",
            "org.jboss.interceptor.**",
            "org.jboss.weld.interceptor.**",
            "org.mozilla.javascript.**",
            "org.python.core.**",
            "org.springframework.aop.**",
            "org.springframework.beans.factory.**",
            "org.springframework.core.SerializableTypeWrapper",
            "scala.sys.process.**",
            "sun.reflect.**",
            "sun.rmi.**");

    private DeniedClasses() {}

    /** Whether the class, or the class that it is nested in, is known from attacks. */
    public static boolean contains(String className) {
        final int nested = className.indexOf('$');
        return ClassPattern.anyMatches(PATTERNS, nested < 0 ? className : className.substring(0, nested))
                || className.startsWith("clojure.core$");
    }
}
