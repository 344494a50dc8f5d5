/** The port for operators: status, health, metrics. */
@NullMarked
package org.rowankv.daemon.admin;

import org.jspecify.annotations.NullMarked;
