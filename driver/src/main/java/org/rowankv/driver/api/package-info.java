/**
 * Interfaces between the client and its transport: sessions, catalogue, change streams, errors. Contains no
 * implementation.
 */
@NullMarked
package org.rowankv.driver.api;

import org.jspecify.annotations.NullMarked;
