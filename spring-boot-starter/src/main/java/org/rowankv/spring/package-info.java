/** Auto-configuration for Spring Boot: caches, health, meters and Hibernate's second-level cache. */
@NullMarked
package org.rowankv.spring;

import org.jspecify.annotations.NullMarked;
