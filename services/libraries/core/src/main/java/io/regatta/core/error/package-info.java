/**
 * The errors that Regatta reports, and the check of texts that come from outside. Every module throws and reads them.
 */
package io.regatta.core.error;
