/** The assignment of examples to ranks. */
package io.regatta.core.data;
