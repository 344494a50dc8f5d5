/**
 * The interfaces between the client and what carries its requests: sessions, catalogue, change streams, errors. No
 * implementation.
 */
@NullMarked
package org.rowankv.driver.api;

import org.jspecify.annotations.NullMarked;
