/** Test support for all modules: virtual time. */
package io.regatta.core.testing;
