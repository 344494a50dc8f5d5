package org.rowankv.jackson;

import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import com.fasterxml.jackson.databind.type.CollectionType;
import com.fasterxml.jackson.databind.type.MapType;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Checks of each class of beans, collections and maps when a mapper first meets it. The rules are an attribute of the call; a mapper serves one cache,
 * whose rules do not change. Stateless.
 */
final class AllowedBeans {
    /** The attribute: a predicate of classes. */
    static final Object RULES = AllowedBeans.class;

    private AllowedBeans() {}

    static Module module() {
        return new SimpleModule("rowan-class-rules", Version.unknownVersion())
                .setDeserializerModifier(new Reading())
                .setSerializerModifier(new Writing());
    }

    static void require(Class<?> type, Predicate<Class<?>> allowed) {
        if (!allowed.test(type)) {
            throw new IllegalArgumentException("the class " + type.getName() + " is not allowed");
        }
    }

    /** Whether the rules of the call allow the class; without rules nothing is allowed. */
    @SuppressWarnings("unchecked") // the codec sets no other attribute of that name
    static boolean isAllowed(MapperConfig<?> config, Class<?> type) {
        final @Nullable Object rules = config.getAttributes().getAttribute(RULES);
        return rules != null && ((Predicate<Class<?>>) rules).test(type);
    }

    private static void require(MapperConfig<?> config, BeanDescription bean) {
        require(bean.getBeanClass(), type -> isAllowed(config, type));
    }

    private static final class Reading extends BeanDeserializerModifier {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonDeserializer<?> modifyDeserializer(
                DeserializationConfig config, BeanDescription bean, JsonDeserializer<?> deserializer) {
            require(config, bean);
            return deserializer;
        }

        @Override
        public JsonDeserializer<?> modifyCollectionDeserializer(
                DeserializationConfig config,
                CollectionType type,
                BeanDescription bean,
                JsonDeserializer<?> deserializer) {
            require(config, bean);
            return deserializer;
        }

        @Override
        public JsonDeserializer<?> modifyMapDeserializer(
                DeserializationConfig config, MapType type, BeanDescription bean, JsonDeserializer<?> deserializer) {
            require(config, bean);
            return deserializer;
        }
    }

    private static final class Writing extends BeanSerializerModifier {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonSerializer<?> modifySerializer(
                SerializationConfig config, BeanDescription bean, JsonSerializer<?> serializer) {
            if (!bean.getType().isReferenceType()) { // such as Optional: its content is checked
                require(config, bean);
            }
            return serializer;
        }
    }
}
