package org.rowankv.spring;

import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Says where a property belongs that stands directly below {@code rowan}, which is where the provider's names are. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {
    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("rowan");

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
        if (!cause.getUnboundProperties().stream().allMatch(each -> OURS.isAncestorOf(each.getName()))) {
            return null;
        }
        final String names = cause.getUnboundProperties().stream()
                .map(ConfigurationProperty::getName)
                .map(ConfigurationPropertyName::toString)
                .collect(Collectors.joining(", "));
        return new FailureAnalysis(
                "The starter of Rowan-KV has no properties " + names + ".",
                "Write settings of the store below rowan.settings, such as rowan.settings.capacity: 1g, and templates"
                        + " of caches below rowan.caches, such as rowan.caches.books.expiry: modified:10m. A name of a"
                        + " cache with other characters than letters, digits and dashes stands in quoted brackets:"
                        + " rowan.caches.\"[com.acme.Book]\".expiry.",
                cause);
    }
}
