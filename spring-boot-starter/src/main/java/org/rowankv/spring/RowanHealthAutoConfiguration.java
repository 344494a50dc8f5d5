package org.rowankv.spring;

import javax.cache.CacheManager;
import org.rowankv.jcache.RowanCacheManager;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The health of the store, with Actuator; {@code management.health.rowan.enabled=false} disables it. */
@AutoConfiguration(after = RowanAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(RowanCacheManager.class)
@ConditionalOnEnabledHealthIndicator("rowan")
public class RowanHealthAutoConfiguration {
    /** For the application context. */
    public RowanHealthAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "rowanHealthIndicator")
    HealthIndicator rowanHealthIndicator(CacheManager manager) {
        return new RowanHealthIndicator(manager);
    }
}
