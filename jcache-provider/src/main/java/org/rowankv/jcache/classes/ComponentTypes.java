package org.rowankv.jcache.classes;

import java.io.Serializable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.HashSet;
import java.util.Set;

/**
 * The classes that objects of declared types consist of: the types themselves, those of their components (the fields
 * that Java serialization writes) with type arguments, and so on; the subclasses of sealed types. At most {@value
 * #MAX_TYPES}: what lies beyond has to be listed. Immutable.
 */
public final class ComponentTypes {
    static final int MAX_TYPES = 1_000;

    /** Classes of the application and its libraries; with their subclasses and superclasses. */
    private final Set<Class<?>> families = new HashSet<>();
    /** Classes of the JDK: these alone, because others extend them. */
    private final Set<Class<?>> exact = new HashSet<>();

    private final Set<Type> seen = new HashSet<>();

    public ComponentTypes(Iterable<Class<?>> declared) {
        declared.forEach(this::add);
    }

    static boolean isJdk(Class<?> type) {
        return type.getClassLoader() == null || type.getClassLoader() == ClassLoader.getPlatformClassLoader();
    }

    /** Whether objects of the declared types may consist of objects of this class. */
    public boolean contains(Class<?> type) {
        for (Class<?> each : exact) {
            if (type == each || isSuperclassOf(type, each)) {
                return true;
            }
        }
        for (Class<?> family : families) {
            if (family.isAssignableFrom(type) || isSuperclassOf(type, family)) {
                return true;
            }
        }
        return false;
    }

    /** An object includes the fields of its superclasses. */
    private static boolean isSuperclassOf(Class<?> candidate, Class<?> type) {
        return !candidate.isInterface() && candidate.isAssignableFrom(type);
    }

    private void add(Type type) {
        if (seen.size() >= MAX_TYPES || !seen.add(type)) {
            return;
        }
        if (type instanceof Class<?> plain) {
            addClass(plain);
        } else if (type instanceof ParameterizedType generic) {
            add(generic.getRawType());
            addAll(generic.getActualTypeArguments());
        } else if (type instanceof GenericArrayType array) {
            add(array.getGenericComponentType());
        } else if (type instanceof WildcardType wildcard) {
            addAll(wildcard.getUpperBounds());
        } else if (type instanceof TypeVariable<?> variable) {
            addAll(variable.getBounds());
        }
    }

    private void addAll(Type[] types) {
        for (Type each : types) {
            add(each);
        }
    }

    private void addClass(Class<?> type) {
        if (type.isArray()) {
            add(type.getComponentType());
        } else if (isJdk(type)) {
            if (Serializable.class.isAssignableFrom(type) && !type.isInterface()) {
                exact.add(type);
            }
        } else {
            families.add(type);
            final Class<?>[] subclasses = type.getPermittedSubclasses();
            if (subclasses != null) {
                addAll(subclasses);
            }
            addComponents(type);
        }
    }

    /** The components of the class and its superclasses; a superclass is part of its objects, not a type of its own. */
    private void addComponents(Class<?> type) {
        for (Class<?> each = type; each != null && !isJdk(each); each = each.getSuperclass()) {
            try {
                for (Field field : each.getDeclaredFields()) {
                    if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
                        add(field.getGenericType());
                    }
                }
                if (each.getGenericSuperclass() instanceof ParameterizedType generic) {
                    addAll(generic.getActualTypeArguments());
                }
            } catch (LinkageError | TypeNotPresentException e) {
                return; // a class of an optional library is absent, so no object of it can arrive
            }
        }
    }
}
