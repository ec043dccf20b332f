/** The batches that wait for the model thread of a heter worker, as a service or within the process of its trainers. */
package io.regatta.training.heter.queue;
