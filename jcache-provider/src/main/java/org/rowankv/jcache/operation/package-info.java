/**
 * The operations of a cache on the native client: reads, mutations, bulk, invocations. The door for applications is
 * one package up.
 */
@NullMarked
package org.rowankv.jcache.operation;

import org.jspecify.annotations.NullMarked;
