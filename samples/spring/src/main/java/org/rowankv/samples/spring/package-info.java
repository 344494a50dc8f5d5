/** A library with Spring Boot, Actuator and Hibernate, that knows nothing of its cache. */
@NullMarked
package org.rowankv.samples.spring;

import org.jspecify.annotations.NullMarked;
