/* entry_name.h - names of files and folders in an LMS's download of all submissions.
 *
 * Moodle (mod/assign/locallib.php, download_submissions; and docs.moodle.org, Assignment
 * activity): "Full name_4711_assignsubmission_file[_]" is a folder of files, or the prefix of one
 * file.  Text that was typed into a form is "onlinetext.html" in the folder
 * "..._assignsubmission_onlinetext", or, in a download without folders, the file
 * "..._assignsubmission_onlinetext_onlinetext.html" (mod/assign/classes/downloader.php).  The
 * number is Moodle's participant number, which differs from the user's ID.
 *
 * Canvas (lib/content_zipper.rb): "byronada_[LATE_]123_4567_conv.cu": the sortable name without
 * other characters than letters, the user's ID, the attachment's ID and the file's name.
 * "byronada_123_text.html" and "byronada_123_link.html" are submissions without a file.  If
 * students are anonymous, "[LATE_]anon_x7f3a" replaces name and ID. */
#ifndef CONVLAB_AUTOGRADER_LMS_ENTRY_NAME_H
#define CONVLAB_AUTOGRADER_LMS_ENTRY_NAME_H

typedef enum EntryKind {
    ENTRY_PLAIN, /* not from an LMS: the name is the student's */
    ENTRY_MOODLE_FILE,
    ENTRY_MOODLE_TEXT, /* onlinetext, or another plugin without files */
    ENTRY_CANVAS_FILE,
    ENTRY_CANVAS_TEXT /* typed text, a web address or a recording */
} EntryKind;

enum { ENTRY_TEXT = 400 };

typedef struct EntryName {
    EntryKind kind;
    char name[ENTRY_TEXT];    /* the person's name as the LMS wrote it */
    char id[32];              /* Canvas: the user's ID; Moodle: the participant's number; or "" */
    char attachment[32];      /* Canvas: the attachment's ID, or "" */
    char student[ENTRY_TEXT]; /* "Ada Byron_4711", "byronada_123": the student in a gradebook */
    int is_late;              /* Canvas wrote LATE */
    const char *file; /* the file's own name, inside the given text; "" for Moodle's folder */
} EntryName;

/* Parses the name of an entry, including its extension.  ENTRY_PLAIN has only `student` and
 * `file`, both the whole text. */
void entry_name_parse(const char *text, EntryName *entry);

/* Whether the LMS named the entry, and the student only a part of it. */
int entry_is_lms(const EntryName *entry);

/* The name of a file without what browsers and Canvas add to a second file of one name:
 * "conv (1).cu", "conv(1).cu" and "conv-1.cu" are "conv.cu".  Returns whether it was a copy. */
int file_name_original(const char *name, char *original, unsigned bytes);

#endif
