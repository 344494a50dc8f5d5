/** Delivery of events to listeners: after the change, in each key's order, with old values only on request. */
@NullMarked
package org.rowankv.jcache.event;

import org.jspecify.annotations.NullMarked;
