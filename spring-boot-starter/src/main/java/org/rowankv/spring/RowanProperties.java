package org.rowankv.spring;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties {@code rowan.*} of the application. Immutable.
 *
 * @param enabled whether the caches of the application are in Rowan-KV
 * @param uri the store: rowan:embedded for one in this JVM, which is the default; rowan://host:7171 for a cluster
 * @param dir directory of a store in this JVM; without it the content ends with the application
 * @param settings further settings of the store by their names, such as capacity
 * @param caches templates of caches by name or pattern; a name with dots or a star stands in brackets
 * @param allowedClasses classes that the caches of a cluster may have, as names, package.* or package.**; closes a store in
 *     this JVM but for them
 * @param allowApplicationClasses whether the caches of a cluster may have the classes in the packages of the application
 * @param cacheErrors log: a failing cache never fails a call of a cacheable method; throw: it does
 */
@ConfigurationProperties(prefix = "rowan", ignoreUnknownFields = false)
public record RowanProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String uri,
        @Nullable String dir,
        @DefaultValue Map<String, String> settings,
        @DefaultValue Map<String, CacheTemplateProperties> caches,
        @DefaultValue List<String> allowedClasses,
        @DefaultValue("true") boolean allowApplicationClasses,
        @DefaultValue("log") CacheErrors cacheErrors) {}
