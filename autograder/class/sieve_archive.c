/* sieve_archive.c - a submitted archive, read entry by entry with libarchive and never extracted:
 * only the data of the labs' files are stored. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/class/sieve.h"

/* A course with all labs solved has less than 1 MiB and some hundred files.  Text compresses to a
 * tenth, or a hundredth if it is repetitive; a decompression bomb to less than a thousandth. */
enum {
    ARCHIVE_BYTES = 64 << 20,
    SWOLLEN_BYTES = 256 << 20,
    ARCHIVE_ENTRIES = 20000,
    MOST_SWELLING = 200,
    FREE_BYTES = 4 << 20, /* output that is allowed for any archive */
    PIECE_BYTES = 64 << 10
};

typedef struct Reading {
    struct archive *archive;
    int64_t packed, unpacked, entries;
} Reading;

/* Whether a path would lead out of the archive if somebody extracted it. */
static int leads_out(const char *path)
{
    if (*path == '/' || *path == '\\' || (*path && path[1] == ':')) return 1;
    for (const char *part = path; *part; part += strspn(part, "/\\")) {
        size_t length = strcspn(part, "/\\");
        if (length == 2 && !strncmp(part, "..", 2)) return 1;
        part += length;
    }
    return 0;
}

static int is_bomb(const Reading *reading)
{
    return reading->unpacked > SWOLLEN_BYTES ||
           (reading->unpacked > FREE_BYTES && reading->unpacked / MOST_SWELLING > reading->packed);
}

/* Reads an entry's data to its end, counts it, and stores it in the slot, if any.  -1: the archive
 * has ended, or a limit was exceeded. */
static int read_data(Sieve *sieve, Reading *reading, SieveSlot *slot)
{
    char piece[PIECE_BYTES];
    la_ssize_t got;
    while ((got = archive_read_data(reading->archive, piece, sizeof piece)) > 0) {
        reading->unpacked += got;
        if (is_bomb(reading)) {
            sieve_refuse(sieve, "the archive unpacks to far more than its size and was rejected");
            return -1;
        }
        if (!slot || slot->problem[0]) continue;
        char *grown = NULL;
        if (slot->bytes + (size_t)got > SIEVE_FILE_BYTES)
            slot_refuse(slot, "%.200s is larger than %d MiB", slot->path, SIEVE_FILE_BYTES >> 20);
        else if (!(grown = realloc(slot->data, slot->bytes + (size_t)got + 1)))
            slot_refuse(slot, "%.200s: out of memory", slot->path);
        if (!grown) continue;
        slot->data = grown;
        memcpy(slot->data + slot->bytes, piece, (size_t)got);
        slot->bytes += (size_t)got;
    }
    if (got < 0) {
        const char *why = archive_error_string(reading->archive);
        sieve_refuse(sieve, "the archive is broken, or has a password: %.200s", why ? why : "?");
        return -1;
    }
    if (slot && !slot->data && !slot->problem[0]) slot->data = calloc(1, 1);
    return 0;
}

/* -1: the rest is not needed. */
static int take(Sieve *sieve, Reading *reading, struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    if (!path) path = archive_entry_pathname_utf8(entry);
    if (!path) path = "";
    if (++reading->entries > ARCHIVE_ENTRIES) {
        sieve_refuse(sieve, "the archive holds more than %d files", ARCHIVE_ENTRIES);
        return -1;
    }
    if (leads_out(path)) {
        sieve_refuse(sieve, "the archive names a path outside itself, '%.150s'", path);
        return -1;
    }
    int is_link = archive_entry_symlink(entry) || archive_entry_hardlink(entry);
    int is_file = archive_entry_filetype(entry) == AE_IFREG && !is_link;
    if (archive_entry_filetype(entry) == AE_IFDIR) return 0;
    SieveSlot *slot = sieve_want(sieve, path);
    if (slot && !is_file)
        slot_refuse(slot, "%.200s is a %s in the archive: submit the file itself", path,
                    is_link ? "link" : "device");
    return read_data(sieve, reading, slot);
}

static void read_entries(Sieve *sieve, Reading *reading)
{
    struct archive_entry *entry;
    int code;
    while ((code = archive_read_next_header(reading->archive, &entry)) == ARCHIVE_OK ||
           code == ARCHIVE_WARN) {
        if (take(sieve, reading, entry)) return;
    }
    const char *why = archive_error_string(reading->archive);
    if (code != ARCHIVE_EOF)
        sieve_refuse(sieve, "the archive is broken: %.200s", why ? why : "?");
    else if (!reading->entries)
        sieve_refuse(sieve, "the archive is empty");
}

void sieve_archive(Sieve *sieve, const char *path)
{
    struct stat status;
    Reading reading = {.archive = archive_read_new()};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !reading.archive) {
        sieve_refuse(sieve, "the archive cannot be read: %s", strerror(errno));
    } else if (status.st_size > ARCHIVE_BYTES) {
        sieve_refuse(sieve, "the archive has more than %d MiB", ARCHIVE_BYTES >> 20);
    } else {
        reading.packed = status.st_size;
        sieve->newest = status.st_mtime;
        archive_read_support_format_zip(reading.archive);
        archive_read_support_format_tar(reading.archive);
        archive_read_support_format_7zip(reading.archive);
        archive_read_support_format_rar(reading.archive);
        archive_read_support_format_rar5(reading.archive);
        archive_read_support_filter_bzip2(reading.archive);
        archive_read_support_filter_gzip(reading.archive);
        archive_read_support_filter_xz(reading.archive);
        archive_read_support_filter_zstd(reading.archive);
        if (archive_read_open_fd(reading.archive, fd, PIECE_BYTES) != ARCHIVE_OK)
            sieve_refuse(sieve, "the archive is broken: %.200s",
                         archive_error_string(reading.archive));
        else
            read_entries(sieve, &reading);
    }
    archive_read_free(reading.archive);
    if (fd >= 0) close(fd);
}
