/** Images, in idx files and in directories. */
package io.regatta.trainer.data.image;
