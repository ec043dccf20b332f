/** Models on disk: written whole or not at all, read again, and whether a place takes files. */
package io.regatta.trainer.save;
